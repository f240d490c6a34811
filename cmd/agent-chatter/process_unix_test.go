//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// testTimeout is the longest time that a test waits for an event.
const testTimeout = 5 * time.Minute

// tester is a test or a script that runs programs.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
	Cleanup(func())
}

// program is a running agent-chatter.
type program struct {
	t              tester
	terminal       bool // it runs on a terminal
	cmd            *exec.Cmd
	stdin          io.WriteCloser
	stdout, stderr *output
	ended          chan struct{} // closed when it has exited
}

// start starts agent-chatter with a home. Its standard input is open until the
// test closes it.
func start(t *testing.T, home string, args ...string) *program {
	t.Helper()
	return startCommand(t, home, exec.Command("agent-chatter", args...))
}

func startCommand(t tester, home string, cmd *exec.Cmd) *program {
	t.Helper()
	p := &program{t: t, cmd: cmd, stdout: newOutput(), stderr: newOutput(), ended: make(chan struct{})}
	cmd.Env = append(cmd.Environ(), "AGENT_CHATTER_HOME="+home)
	cmd.Stdout, cmd.Stderr = p.stdout, p.stderr
	cmd.WaitDelay = testTimeout
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		cmd.Process.Kill()
		<-p.ended
	})
	return p
}

func (p *program) enter(lines ...string) {
	p.t.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.stdin, line+"\n"); err != nil {
			p.t.Fatal(err)
		}
	}
}

// expect waits until the program has written a text to standard output after the last
// match.
func (p *program) expect(text string) {
	p.t.Helper()
	p.await(p.stdout, text)
}

// expectNotice is expect for standard error.
func (p *program) expectNotice(text string) {
	p.t.Helper()
	p.await(p.stderr, text)
}

func (p *program) await(o *output, text string) {
	p.t.Helper()
	p.awaitThat(o, text, func(output string) (end int, found bool) {
		at := strings.Index(output, text)
		return at + len(text), at >= 0
	})
}

// awaitThat waits until find matches the output after the last match.
func (p *program) awaitThat(o *output, what string, find func(output string) (end int, found bool)) {
	p.t.Helper()
	timeout := time.After(testTimeout)
	for hasExited := false; ; {
		content, changed := o.look()
		if end, found := find(content[o.awaited:]); found {
			o.awaited += end
			return
		}
		if hasExited {
			p.t.Fatalf("it exited without printing %q.\nstdout:\n%s\nstderr:\n%s", what, p.stdout, p.stderr)
		}
		select {
		case <-changed:
		case <-p.ended:
			hasExited = true
		case <-timeout:
			p.t.Fatalf("it did not print %q.\nstdout:\n%s\nstderr:\n%s", what, p.stdout, p.stderr)
		}
	}
}

func (p *program) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits until the program exits, and checks the exit code.
func (p *program) ends(code int) {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(testTimeout):
		p.t.Fatalf("it does not exit.\nstdout:\n%s\nstderr:\n%s", p.stdout, p.stderr)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Fatalf("exit code %d, want %d.\nstdout:\n%s\nstderr:\n%s", got, code, p.stdout, p.stderr)
	}
}

func (p *program) closeInput() { p.stdin.Close() }

// output is the output of a program so far.
type output struct {
	mu      sync.Mutex
	content bytes.Buffer
	changed chan struct{} // closed at the next write

	awaited int // end of the last match
}

func newOutput() *output { return &output{changed: make(chan struct{})} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.changed)
	o.changed = make(chan struct{})
	return o.content.Write(b)
}

func (o *output) look() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.content.String(), o.changed
}

func (o *output) String() string {
	content, _ := o.look()
	return content
}

// do runs agent-chatter to its end, and returns its output.
func do(t *testing.T, home string, code int, args ...string) (stdout, stderr string) {
	t.Helper()
	p := start(t, home, args...)
	p.closeInput()
	p.ends(code)
	return p.stdout.String(), p.stderr.String()
}

// sessionRow is a row of sessions --output json.
type sessionRow struct {
	ID, Team, Title string
	MessageCount    int
}

// listed returns the sessions, newest first.
func listed(t *testing.T, home string) (rows []sessionRow) {
	t.Helper()
	out, _ := do(t, home, exitDone, "sessions", "--output", "json")
	for line := range strings.Lines(out) {
		var row sessionRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// onlyJournal returns the id of the only session and the path of its journal.
func onlyJournal(t *testing.T, home string) (id, path string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, "sessions", "*", "*.jsonl"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("journals: %q, %v", paths, err)
	}
	return strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl"), paths[0]
}

func readFile(t tester, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// teamPath returns the path of a team file in testdata/teams.
func teamPath(name string) string { return filepath.Join("..", "..", "testdata", "teams", name) }
