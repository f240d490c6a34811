//go:build unix

package view

import (
	"io"
	"os"
	"regexp"
	"testing"

	"github.com/creack/pty"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

func TestListOnATerminal(t *testing.T) {
	for _, tt := range []struct {
		name, output   string
		stderr         io.Writer // nil: the terminal
		plain, noColor bool
		want           string
	}{
		{"color", "text", nil, false, false, "\x1b[32m✓ \x1b[mone\n\x1b[33m⚠ \x1b[mtwo\n"},
		{"no color", "text", nil, false, true, "✓ one\n⚠ two\n"},
		{"no control sequences", "text", nil, true, false, "no list\ntwo\n"},
		{"JSON", "json", nil, false, false, "no list\ntwo\n"},
		{"a pipe for errors", "text", io.Discard, false, false, "no list\n"},
	} {
		got := apptest.OnTerminal(t, 80, func(terminal *os.File) {
			if tt.plain {
				t.Setenv("TERM", "dumb")
			}
			streams := app.IO{Stdout: terminal, Stderr: terminal, NoColor: tt.noColor}
			if tt.stderr != nil {
				streams.Stderr = tt.stderr
			}
			a, err := app.New(streams, app.Options{Home: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			if l := FindingsOnTerminal(a, tt.output); l == nil {
				io.WriteString(terminal, "no list\n")
			} else if err := l.Add(app.Fine("one")); err != nil {
				t.Error(err)
			}
			a.Notice("two")
		})
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// The progress of what is running is erased before a finding.
func TestFindingErasesProgress(t *testing.T) {
	t.Setenv("TERM", "xterm")
	screen, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer screen.Close()
	defer terminal.Close()
	a, err := app.New(app.IO{Stdout: terminal, Stderr: terminal, NoColor: true}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	shown, buffer := "", make([]byte, 1024)
	expect := func(pattern string) {
		for text := regexp.MustCompile(pattern); !text.MatchString(shown); {
			n, err := screen.Read(buffer)
			if err != nil {
				t.Fatal(err)
			}
			shown += string(buffer[:n])
		}
	}
	l := FindingsOnTerminal(a, "text")
	end := a.Begin("Checking")
	defer end()
	expect(`\rChecking, \d+s`) // a busy machine may be late
	if err := l.Add(app.Fine("one")); err != nil {
		t.Fatal(err)
	}
	expect(`one\r\n`)
	if want := regexp.MustCompile(`Checking, \d+s\r {12,}\r✓ one\r\n$`); !want.MatchString(shown) {
		t.Errorf("%q, want %q", shown, want)
	}
}
