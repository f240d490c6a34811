//go:build unix

package apptest

import (
	"io"
	"os"
	"strings"
	"testing"

	"github.com/creack/pty"
)

// OnTerminal returns what run prints to a terminal of 24 rows and so many columns.
func OnTerminal(t *testing.T, columns uint16, run func(terminal *os.File)) string {
	t.Helper()
	t.Setenv("TERM", "xterm")
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	if err := pty.Setsize(terminal, &pty.Winsize{Rows: 24, Cols: columns}); err != nil {
		t.Fatal(err)
	}
	shown := make(chan string)
	go func() {
		data, _ := io.ReadAll(screen) // Linux ends it with EIO
		shown <- strings.ReplaceAll(string(data), "\r\n", "\n")
	}()
	func() {
		defer terminal.Close()
		run(terminal)
	}()
	return <-shown
}
