//go:build unix

package ttytest

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// Tmux is a terminal with a scrollback, in a server of its own. A failure of tmux ends the test.
type Tmux struct {
	t       *testing.T
	socket  string
	control *control // nil before the first command
}

// Start runs a command of the shell on a terminal until the test ends; the end waits for all its processes. Without
// tmux it skips the test, but fails it in CI, which installs tmux.
func Start(t *testing.T, columns, rows int, command string) *Tmux {
	t.Helper()
	programtest.Path(t, "tmux")
	dir := t.TempDir()
	m := &Tmux{t: t, socket: filepath.Join(dir, "tmux")}
	held := holdFile(t, filepath.Join(dir, "held"))
	start := exec.Command("tmux", "-S", m.socket, "-f", "/dev/null",
		"start-server", ";", "set-option", "-g", "history-limit", "100000", ";",
		"set-option", "-s", "extended-keys", "on", ";", "new-session", "-d", "-s", session, "-x", strconv.Itoa(columns),
		"-y", strconv.Itoa(rows), fmt.Sprintf("exec 9>'%s'; %s", held.Name(), command))
	if out, err := start.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v: %s", err, out)
	}
	t.Cleanup(func() {
		if err := exec.Command("tmux", "-S", m.socket, "kill-server").Run(); err != nil && !m.ended() {
			t.Error(err)
		}
		defer held.Close()
		if t.Failed() { // perhaps because a process does not end
			return
		}
		// Processes that end later could write to directories that the test removes.
		if _, err := io.Copy(io.Discard, held); err != nil {
			t.Error(err)
		}
	})
	return m
}

// holdFile makes a named pipe, whose end is read when no process has it open.
func holdFile(t *testing.T, path string) *os.File {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// Run runs a command of tmux, on the terminal if it is for one, and returns its output.
func (m *Tmux) Run(name string, args ...string) string {
	m.t.Helper()
	var err error
	if m.control == nil {
		if m.control, err = attach(m.socket); err != nil {
			m.t.Fatal(err)
		}
	}
	out, err := m.control.run(name, args...)
	if err != nil {
		m.t.Fatalf("tmux %s %q: %v", name, args, err)
	}
	return out
}

// ended reports whether the command has ended, with which the server ends.
func (m *Tmux) ended() bool {
	err := exec.Command("tmux", "-S", m.socket, "has-session").Run()
	return errors.As(err, new(*exec.ExitError))
}

// Press presses keys, as tmux names them.
func (m *Tmux) Press(keys ...string) { m.t.Helper(); m.Run("send-keys", keys...) }

// Text returns the scrollback and the screen; the lines that the terminal has wrapped are whole.
func (m *Tmux) Text() string { m.t.Helper(); return m.Run("capture-pane", "-p", "-J", "-S", "-") }

// Screen returns the rows of the screen without blanks at their ends.
func (m *Tmux) Screen() (rows []string) {
	m.t.Helper()
	for row := range strings.Lines(m.Run("capture-pane", "-p")) {
		rows = append(rows, strings.TrimRight(row, " \n"))
	}
	return rows
}

// Title returns the title that a program has given the terminal.
func (m *Tmux) Title() string {
	m.t.Helper()
	return strings.TrimSpace(m.Run("display-message", "-p", "#{pane_title}"))
}

// AwaitCursor waits until the cursor is shown.
func (m *Tmux) AwaitCursor() {
	m.t.Helper()
	m.Await(func() bool { return strings.TrimSpace(m.Run("display-message", "-p", "#{cursor_flag}")) == "1" })
}

// Expect waits for a text.
func (m *Tmux) Expect(text string) { m.t.Helper(); m.ExpectTimes(text, 1) }

// ExpectTimes waits until a text is there so many times.
func (m *Tmux) ExpectTimes(text string, n int) {
	m.t.Helper()
	m.Await(func() bool { return strings.Count(m.Text(), text) >= n })
}

// Await waits until a condition holds. Tmux reports no change: the pause leaves the processor to the programs.
func (m *Tmux) Await(holds func() bool) {
	for !holds() {
		time.Sleep(pollInterval)
	}
}

const pollInterval = 10 * time.Millisecond

// Settings returns what stty prints in the shell of the terminal. The name is a new one for each call.
func (m *Tmux) Settings(name string) string {
	m.t.Helper()
	m.Press("echo \""+name+" $(stty -g) end\"", "Enter")
	settings := ""
	m.Await(func() (found bool) {
		_, after, _ := strings.Cut(m.Text(), "\n"+name+" ")
		settings, _, found = strings.Cut(after, " end\n")
		return found
	})
	return settings
}
