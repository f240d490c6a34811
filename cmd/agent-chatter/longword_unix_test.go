//go:build unix

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// longReply is how much of a reply is taken at least. The agent sends 60 MB without any blank, as minified code or an
// encoded image has none.
const longReply = 16 << 20

// TestLongWord streams a long word to a terminal of 80 columns, and interrupts it while it is printed.
func TestLongWord(t *testing.T) {
	racetest.Skip(t, "TestTerminal runs the same goroutines")
	sizetest.SkipUnlessFull(t, "prints 60 MB")
	const prompt, goodbye = "hugo> ", "To resume, type: "
	for name, test := range map[string]struct {
		act     func(*testing.T, *os.Process, io.Writer)
		shown   string // after that
		code    int
		partial bool
	}{
		"whole":  {act: func(*testing.T, *os.Process, io.Writer) {}, shown: prompt},
		"Escape": {act: pressing(esc), shown: prompt, partial: true},
		"Ctrl+C": {act: pressing(ctrlC), shown: prompt, partial: true},
		"SIGTERM": {
			act: func(t *testing.T, p *os.Process, _ io.Writer) {
				if err := p.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
			},
			shown: goodbye, code: 130, partial: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			cmd := exec.Command("agent-chatter", "chat", "-t", longWordTeam(t))
			cmd.Env = append(os.Environ(), "AGENT_CHATTER_HOME="+home, "TERM=xterm")
			terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
			if err != nil {
				t.Fatal(err)
			}
			defer terminal.Close()
			readTo(t, terminal, prompt)
			pressing("go\r")(t, cmd.Process, terminal)
			printed := readTo(t, terminal, strings.Repeat("x", 70)) // of a row
			test.act(t, cmd.Process, terminal)
			printed += readTo(t, terminal, test.shown)
			if partial := printed < longReply; partial != test.partial {
				t.Errorf("%d letters were printed", printed)
			}
			if test.shown == prompt {
				pressing("/end\r")(t, cmd.Process, terminal)
				readTo(t, terminal, goodbye)
			}
			readTo(t, terminal, "")
			cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != test.code {
				t.Errorf("exit code %d, want %d", code, test.code)
			}
			do(t, home, exitDone, "verify")
		})
	}
}

func pressing(keys string) func(*testing.T, *os.Process, io.Writer) {
	return func(t *testing.T, _ *os.Process, terminal io.Writer) {
		if _, err := io.WriteString(terminal, keys); err != nil {
			t.Fatal(err)
		}
	}
}

// readTo reads up to a text, or to the end if text is "", and returns how often x was printed. It keeps only the
// newest output.
func readTo(t *testing.T, terminal io.Reader, text string) (letters int) {
	t.Helper()
	var recent []byte
	buf := make([]byte, 32<<10)
	for text == "" || !bytes.Contains(recent, []byte(text)) {
		n, err := terminal.Read(buf)
		letters += bytes.Count(buf[:n], []byte("x"))
		recent = append(recent[max(0, len(recent)-len(text)):], buf[:n]...)
		if text == "" && (errors.Is(err, syscall.EIO) || err == io.EOF) {
			return letters
		}
		if err != nil {
			t.Fatalf("%v before %q; the last output is %q", err, text, recent)
		}
	}
	return letters
}

// longWordTeam writes a team whose agent replies with a long word and returns the path.
func longWordTeam(t *testing.T) string {
	path := filepath.Join(t.TempDir(), "word.json")
	content := strings.ReplaceAll(readFile(t, teamPath("capture.json")), "./capture.sh", "./word.sh")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	script := "#!/bin/sh\nhead -c 60000000 /dev/zero | tr '\\0' x\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), "word.sh"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}
