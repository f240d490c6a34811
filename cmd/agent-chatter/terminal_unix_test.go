//go:build unix

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// startOnTerminal starts agent-chatter on a terminal. Its output is in stdout.
func startOnTerminal(t *testing.T, home string, args ...string) *program {
	t.Helper()
	cmd := exec.Command("agent-chatter", args...)
	return startTerminal(t, home, cmd)
}

func startTerminal(t tester, home string, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, terminal: true, cmd: cmd, stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	cmd.Env = append(cmd.Environ(), "AGENT_CHATTER_HOME="+home, "TERM=xterm", "NO_COLOR=1")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200})
	if err != nil {
		t.Fatal(err)
	}
	terminal = closable(t, terminal)
	p.stdin = terminal
	read := make(chan struct{})
	go func() {
		defer close(read)
		if _, err := io.Copy(p.stdout, terminal); err != nil && !errors.Is(err, syscall.EIO) &&
			!errors.Is(err, os.ErrClosed) {
			fmt.Fprintf(p.stderr, "read from the terminal: %v\n", err)
		}
	}()
	go func() {
		cmd.Wait()
		<-read // all output
		close(p.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.ended
		terminal.Close()
	})
	return p
}

// closable returns the terminal as a file whose Close does not wait for a Read, so
// that a test can hang up.
func closable(t tester, terminal *os.File) *os.File {
	t.Helper()
	defer terminal.Close()
	syscall.ForkLock.RLock() // no child process may inherit it
	fd, err := syscall.Dup(int(terminal.Fd()))
	if err == nil {
		syscall.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		t.Fatal(err)
	}
	return os.NewFile(uintptr(fd), terminal.Name())
}

// press types keys, without Enter.
func (p *program) press(keys string) {
	p.t.Helper()
	if _, err := io.WriteString(p.stdin, keys); err != nil {
		p.t.Fatal(err)
	}
}

// typeLine types a line on a terminal. What is drawn of it before Enter satisfies no later expect: a chat draws its
// prompt again with each letter.
func (p *program) typeLine(line string) {
	p.t.Helper()
	if line != "" && p.hasInputBox() {
		p.press(line)
		p.expect(line + "\r") // the caret is at its end
		line = ""
	}
	p.press(line + enter)
}

// hasInputBox reports whether the program draws what is typed itself. It takes pastes then.
func (p *program) hasInputBox() bool {
	shown := p.stdout.String()
	return strings.LastIndex(shown, "\x1b[?2004h") > strings.LastIndex(shown, "\x1b[?2004l")
}

const (
	enter = "\r"
	ctrlC = "\x03"
	ctrlD = "\x04"
	esc   = "\x1b"
)
