//go:build linux || darwin

package tty

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// tmux is a terminal with a scrollback in a server of its own. The programs of this test binary run in it.
type tmux struct {
	t      *testing.T
	socket string
}

// startTmux runs a command of the shell in a terminal.
func startTmux(t *testing.T, columns, rows int, command string) *tmux {
	t.Helper()
	needs(t, "tmux")
	m := &tmux{t, filepath.Join(t.TempDir(), "tmux")}
	m.run("-f", "/dev/null", "start-server", ";", "set-option", "-g", "history-limit", "100000", ";",
		"set-option", "-s", "extended-keys", "on", ";", "new-session", "-d", "-x", strconv.Itoa(columns),
		"-y", strconv.Itoa(rows), command)
	t.Cleanup(func() {
		if err := exec.Command("tmux", "-S", m.socket, "kill-server").Run(); err != nil && !m.ended() {
			t.Error(err)
		}
	})
	return m
}

// needs skips the test without a program, but fails it in CI, which installs it.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip(program, " is not installed")
	}
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

// ended reports whether the command has ended, with which the server ends.
func (m *tmux) ended() bool {
	err := exec.Command("tmux", "-S", m.socket, "has-session").Run()
	return errors.As(err, new(*exec.ExitError))
}

// press presses keys, as tmux names them.
func (m *tmux) press(keys ...string) { m.t.Helper(); m.run(append([]string{"send-keys"}, keys...)...) }

// text returns the scrollback and the screen; the lines that the terminal has wrapped are whole.
func (m *tmux) text() string { m.t.Helper(); return m.run("capture-pane", "-p", "-J", "-S", "-") }

// screen returns the rows of the screen without blanks at their ends.
func (m *tmux) screen() (rows []string) {
	m.t.Helper()
	for row := range strings.Lines(m.run("capture-pane", "-p")) {
		rows = append(rows, strings.TrimRight(row, " \n"))
	}
	return rows
}

// expect waits for a text, and expectTimes until there are so many of it.
func (m *tmux) expect(text string) { m.t.Helper(); m.expectTimes(text, 1) }

func (m *tmux) expectTimes(text string, n int) {
	m.t.Helper()
	for strings.Count(m.text(), text) < n {
	}
}

// program returns the command of the shell that runs a program of this test binary.
func program(t *testing.T, name string) string {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%s=%s %s", programVariable, name, binary)
}
