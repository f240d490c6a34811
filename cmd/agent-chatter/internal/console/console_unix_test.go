//go:build unix

package console

import (
	"bufio"
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/creack/pty"
)

func TestMain(m *testing.M) {
	if !tty.Watched() {
		os.Exit(m.Run())
	}
}

// openConsole returns a Console and the other end of its terminal, which the test reads.
func openConsole(t *testing.T) (*Console, *os.File) {
	t.Helper()
	other, file, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() }) // file may still be written to
	a := &app.App{Printer: app.Printer{IO: app.IO{Stdin: file, Stdout: &app.Output{File: file, Terminal: true}, Stderr: io.Discard}}}
	c, err := Open(a, Options{ReadOnly: func(string) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	return c, other
}

func TestStalledTerminalDoesNotStopPrinting(t *testing.T) {
	c, other := openConsole(t)
	c.stallTime = time.Millisecond
	line := strings.Repeat("x", 1<<20)
	for range 40 {
		c.Print(line)
	}
	c.mu.Lock()
	kept, dropped := c.pending, c.dropped
	c.mu.Unlock()
	if kept > maxKept+len(line) || dropped == 0 {
		t.Errorf("%d bytes are kept, and %d lines are dropped", kept, dropped)
	}
	printed := bufio.NewReader(other)
	for row := ""; !strings.Contains(row, "took no output"); {
		var err error
		if row, err = printed.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	go func() { _, _ = io.Copy(io.Discard, printed) }()
	if err := c.Close(context.Background()); err != nil {
		t.Error(err)
	}
}

func TestStalledTerminalDoesNotStopTheEnd(t *testing.T) {
	c, _ := openConsole(t)
	c.stallTime = time.Millisecond
	for range 3 {
		c.Print(strings.Repeat("x", 1<<20))
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Close(cancelled); err == nil {
		t.Error("the terminal was closed")
	}
}

func TestKeyAfterAnAnswerIsText(t *testing.T) {
	c := &Console{answers: make(chan string, 1)}
	c.model.Question = &Question{Choices: permission}
	for _, code := range []tty.Code{'y', tty.Enter, 'h', 'i'} {
		c.update(key(code, 0))
	}
	if answer := <-c.answers; answer != "y" || c.model.Editor.Text() != "hi" {
		t.Errorf("the answer is %q, and the text %q", answer, c.model.Editor.Text())
	}
}
