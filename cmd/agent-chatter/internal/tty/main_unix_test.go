//go:build linux || darwin

package tty

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// programVariable names the program that a test binary runs instead of tests.
const programVariable = "AGENT_CHATTER_TTY_TEST"

func TestMain(m *testing.M) {
	if Watched() {
		return
	}
	if name := os.Getenv(programVariable); name != "" {
		if err := programs[name](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// programs run on a terminal.
var programs = map[string]func() error{"events": showEvents, "stream": streamLines, "caret": showCaret}

// showEvents prints each event but Ctrl+L, which clears the screen, and Ctrl+P, which shows a page, until q.
func showEvents() error {
	signal.Ignore(syscall.SIGHUP) // so that the end of the terminal is an error of the input
	t, err := Open(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	screen := NewScreen(t)
	live := []string{"> live"}
	if err := screen.Draw([]string{"ready"}, live, nil); err != nil {
		return err
	}
	for e := range t.Events() {
		shown := fmt.Sprintf("%#v", e)
		switch e := e.(type) {
		case Key:
			shown = fmt.Sprintf("key %d %d", e.Code, e.Mod)
			if e.Code > 0 {
				shown = fmt.Sprintf("key %q %d", e.Code, e.Mod)
			}
		case Resize:
			shown = "drawn"
		}
		switch e {
		case Key{Code: 'q'}:
			return errors.Join(screen.Draw(nil, nil, nil), t.Close())
		case Key{'z', Ctrl}:
			shown, err = "suspended", t.Suspend()
		case Key{'l', Ctrl}:
			screen.Clear()
			err = screen.Draw(nil, []string{"> cleared"}, nil)
			continue
		case Key{'p', Ctrl}:
			err = screen.Page([]string{"the page", "its second row"})
			continue
		}
		if err = errors.Join(err, screen.Draw([]string{shown}, live, nil)); err != nil {
			return err
		}
	}
	return t.Close()
}

// showCaret shows what is typed, with the cursor at its end. A digit asks for attention, too.
func showCaret() error {
	t, err := Open(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	screen := NewScreen(t)
	done, typed, status := []string{"first"}, "> ", "status"
	for {
		live := []string{"", typed, status}
		if err := screen.Draw(done, live, &Caret{Row: 1, Column: ansi.StringWidth(typed)}); err != nil {
			return err
		}
		done = nil
		e, ok := <-t.Events()
		if !ok {
			return t.Close()
		}
		switch e := e.(type) {
		case Key:
			typed += string(rune(e.Code))
			if title := map[Code]string{'1': "● works", '2': "? Ada asks", '3': "✓ done"}[e.Code]; title != "" {
				if err := errors.Join(screen.SetTitle(title), screen.Ring(), screen.Notify(title)); err != nil {
					return err
				}
			}
		case Resize:
			columns, _ := t.Size()
			status = fmt.Sprint("drawn at ", columns)
		}
	}
}

const streamed = 600

func streamedLine(n int) string {
	return fmt.Sprintf("line %04d 界 %s.", n, strings.Repeat("x", n%70))
}

func streamedLines() (lines []string) {
	for n := range streamed {
		lines = append(lines, streamedLine(n+1))
	}
	return lines
}

// streamRows are the live rows of a chat: what is typed, and the status.
func streamRows(status string) []string {
	return []string{"> the input 🫖 " + strings.Repeat("y", 60), "  and more", "status " + status}
}

func redrawnAt(columns, rows int) string { return fmt.Sprintf("redrawn at %dx%d", columns, rows) }

// streamLines prints lines with live rows below them, until q.
func streamLines() error {
	t, err := Open(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	screen := NewScreen(t)
	tick := time.NewTicker(5 * time.Millisecond) // the speed of the stream
	status := ""
	for n := 0; ; {
		var done []string
		select {
		case e, ok := <-t.Events():
			switch {
			case !ok || e == Key{Code: 'q'}:
				return t.Close()
			case e == Key{Code: 'r'}:
				status = "redrawn"
			}
		case <-tick.C:
			if n < streamed {
				n++
				done, status = []string{streamedLine(n)}, fmt.Sprint(n)
			}
		}
		shown := status
		if status == "redrawn" {
			columns, rows := screen.Size()
			shown = redrawnAt(columns, rows)
		}
		if err := screen.Draw(done, streamRows(shown), nil); err != nil {
			return err
		}
	}
}

// program returns a shell command that makes this test binary run one of programs.
func program(t *testing.T, name string) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s=%s '%s'", programVariable, name, binary)
}
