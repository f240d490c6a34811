package tty

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

	"github.com/creack/pty"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
)

// children returns the processes that pid has started.
func children(t *testing.T, pid int) (pids []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		child, parent, state := processState(path)
		if parent == pid && state != "Z" {
			pids = append(pids, child)
		}
	}
	return pids
}

// processState reads the stat file of a process; the state is "" if there is none.
func processState(path string) (pid, parent int, state string) {
	stat, err := os.ReadFile(path)
	if err != nil {
		return 0, 0, ""
	}
	pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(path)))
	_, rest, _ := strings.Cut(string(stat), ") ")
	_, _ = fmt.Sscan(rest, &state, &parent)
	return pid, parent, state
}

// awaitDeath waits until a process has ended.
func awaitDeath(pid int) {
	for {
		if _, _, state := processState(fmt.Sprintf("/proc/%d/stat", pid)); state == "" || state == "Z" {
			return
		}
	}
}

// TestKilledProgramRestoresTerminal kills a program on a terminal whose shell waits until the settings are what they
// were.
func TestKilledProgramRestoresTerminal(t *testing.T) {
	dir := t.TempDir()
	m := ttytest.Start(t, 60, 24, fmt.Sprintf(`before=$(stty -g); sh -c 'echo $$ > %s/pid; exec env %s'; `+
		`until [ "$(stty -g)" = "$before" ]; do :; done; echo restored; cat`, dir, program(t, "events")))
	for _, shown := range []string{"> live", "the page"} {
		m.Expect(shown)
		m.Press("C-p")
	}
	if modes := modesOf(m); modes != "cursor 0, wrap 1, alternate 1" {
		t.Errorf("while it runs: %s", modes)
	}
	killed := readPID(t, filepath.Join(dir, "pid"))
	watchers := children(t, killed)
	if len(watchers) != 1 {
		t.Fatalf("its children are %v, want a watcher", watchers)
	}
	if err := syscall.Kill(killed, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	m.Expect("restored")
	awaitDeath(watchers[0])
	for modesOf(m) != "cursor 1, wrap 1, alternate 0" { // tmux reads what the watcher has written
	}
	if text := m.Text(); strings.Contains(text, "live") || !strings.Contains(text, "ready") {
		t.Errorf("it shows\n%s", text)
	}
}

func modesOf(m *ttytest.Tmux) string {
	return strings.TrimSpace(m.Run("display-message", "-p",
		"cursor #{cursor_flag}, wrap #{wrap_flag}, alternate #{alternate_on}"))
}

// TestWatcherLeavesTerminalOfAnother kills a program after another has changed the settings.
func TestWatcherLeavesSettingsOfAnother(t *testing.T) {
	terminal, program := startOnPTY(t)
	watchers := children(t, program.Process.Pid)
	others, err := currentSettings(terminal, nil)
	if err != nil {
		t.Fatal(err)
	}
	others.Lflag |= syscall.ISIG
	if err := others.apply(terminal, terminal); err != nil {
		t.Fatal(err)
	}
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(watchers[0])
	if got, err := currentSettings(terminal, nil); err != nil || got != others {
		t.Errorf("the settings are %v, want %v: %v", got, others, err)
	}
}

// startOnPTY starts the program that shows events on a terminal, and waits until it is ready.
func startOnPTY(t *testing.T) (terminal *os.File, program *exec.Cmd) {
	t.Helper()
	program = exec.Command(os.Args[0])
	program.Env = append(program.Environ(), programVariable+"=events")
	terminal, err := pty.StartWithSize(program, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	readUntil(t, terminal, "> live")
	return terminal, program
}

func readUntil(t *testing.T, r io.Reader, text string) {
	t.Helper()
	var shown []byte
	for buf := make([]byte, 4096); !strings.Contains(string(shown), text); {
		n, err := r.Read(buf)
		if err != nil {
			t.Fatalf("%v after %q", err, shown)
		}
		shown = append(shown, buf[:n]...)
	}
}

func TestTerminalThatGoesAwayEndsEvents(t *testing.T) {
	terminal, program := startOnPTY(t)
	watchers := children(t, program.Process.Pid)
	if len(watchers) != 1 {
		t.Errorf("its children are %v", watchers)
	}
	if err := terminal.Close(); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Error(err)
	}
	for _, pid := range watchers {
		awaitDeath(pid)
	}
}

func TestWatcherLeavesClosedTerminal(t *testing.T) {
	terminal, program := startOnPTY(t)
	watchers := children(t, program.Process.Pid)
	if _, err := terminal.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := program.Wait(); err != nil {
		t.Error(err)
	}
	for _, pid := range watchers {
		awaitDeath(pid)
	}
	shown, err := io.ReadAll(terminal)
	if err != nil && !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if n := strings.Count(string(shown), modesOff); n != 1 {
		t.Errorf("the modes are given back %d times: %q", n, shown)
	}
}
