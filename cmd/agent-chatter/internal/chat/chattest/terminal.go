//go:build unix

package chattest

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
)

// A Terminal runs a chat.
type Terminal struct {
	t        *testing.T
	cmd      *exec.Cmd
	terminal *os.File
	ended    chan struct{} // closed when the program has ended and all its output was read

	mu      sync.Mutex
	output  bytes.Buffer
	changed chan struct{} // closed, and replaced, when there is more output
	seen    int           // the end of what was expected last
}

// timeout is how long a test waits for a terminal.
const timeout = time.Minute

// Start runs a command on a terminal.
func Start(t *testing.T, cmd *exec.Cmd) *Terminal {
	t.Helper()
	cmd.Env = append(cmd.Environ(), "TERM=xterm", "NO_COLOR=1")
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	terminal := &Terminal{t: t, cmd: cmd, terminal: f, ended: make(chan struct{}), changed: make(chan struct{})}
	go func() {
		defer close(terminal.ended)
		buffer := make([]byte, 32<<10)
		for {
			n, err := f.Read(buffer)
			terminal.add(buffer[:n])
			if err != nil {
				_ = cmd.Wait()
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-terminal.ended
		f.Close()
	})
	return terminal
}

func (m *Terminal) add(output []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.output.Write(output)
	close(m.changed)
	m.changed = make(chan struct{})
}

// Expect waits until the program has printed a text after the one that was expected last.
func (m *Terminal) Expect(text string) {
	m.t.Helper()
	late := time.After(timeout)
	for over := false; ; {
		m.mu.Lock()
		output, changed := m.output.String(), m.changed
		at := strings.Index(output[m.seen:], text)
		if at >= 0 {
			m.seen += at + len(text)
		}
		m.mu.Unlock()
		if at >= 0 {
			return
		}
		if over {
			m.t.Fatalf("the chat did not print %q:\n%q", text, output[max(0, len(output)-4000):])
		}
		select {
		case <-changed:
		case <-m.ended:
			over = true
		case <-late:
			over = true
		}
	}
}

// Press types keys, without Enter.
func (m *Terminal) Press(keys string) {
	m.t.Helper()
	if _, err := m.terminal.WriteString(keys); err != nil {
		m.t.Fatal(err)
	}
}

// Line types a line.
func (m *Terminal) Line(text string) {
	m.t.Helper()
	m.Press(text)
	m.Expect(text + "\r") // the cursor is at its end; what is drawn before Enter satisfies no later Expect
	m.Press("\r")
}

// Paste pastes a text.
func (m *Terminal) Paste(text string) { m.t.Helper(); m.Press("\x1b[200~" + text + "\x1b[201~") }

// End ends the chat.
func (m *Terminal) End() {
	m.t.Helper()
	m.Line("/end")
	select {
	case <-m.ended:
	case <-time.After(timeout):
		m.t.Fatal("the chat does not end")
	}
	if code := m.cmd.ProcessState.ExitCode(); code != 0 {
		m.t.Fatalf("the chat ended with the exit code %d", code)
	}
}
