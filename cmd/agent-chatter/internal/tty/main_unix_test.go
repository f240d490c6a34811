//go:build linux || darwin

package tty

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
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

// programs run on a terminal of tmux.
var programs = map[string]func() error{"events": showEvents, "stream": streamLines}

// showEvents prints each event, until q.
func showEvents() error {
	t, err := Open(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	screen := NewScreen(t)
	if err := screen.Draw([]string{"ready"}, []string{"> live"}); err != nil {
		return err
	}
	for e := range t.Events() {
		switch e {
		case Key{Code: 'q'}:
			return t.Close()
		case Key{'z', Ctrl}:
			err = t.Suspend()
		case Key{'l', Ctrl}:
			screen.Clear()
			err = screen.Draw(nil, []string{"> live"})
		case Resize{}:
			err = screen.Draw([]string{"resized"}, []string{"> live"})
		default:
			err = screen.Draw([]string{fmt.Sprintf("%T %v", e, e)}, []string{"> live"})
		}
		if err != nil {
			return err
		}
	}
	return t.Close()
}

const streamed = 600

// streamLines prints lines with live rows below them, until q.
func streamLines() error {
	t, err := Open(os.Stdin, os.Stdout)
	if err != nil {
		return err
	}
	screen := NewScreen(t)
	tick := time.NewTicker(5 * time.Millisecond) // the speed of the stream
	for n := 0; ; {
		var done []string
		select {
		case e, ok := <-t.Events():
			if !ok || e == (Key{Code: 'q'}) {
				return t.Close()
			}
		case <-tick.C:
			if n < streamed {
				n++
				done = []string{fmt.Sprintf("line %04d 界 %s.", n, strings.Repeat("x", n%70))}
			}
		}
		live := []string{"> the input of the user 🫖 " + strings.Repeat("y", 60), "", fmt.Sprintf("status %d", n)}
		if err := screen.Draw(done, live); err != nil {
			return err
		}
	}
}
