//go:build unix

package agent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

const huge = 16 << 20

// graceful never sends SIGKILL in a test that passes; abrupt does at once.
var (
	graceful = agent.Command{Grace: never}
	abrupt   = agent.Command{Grace: time.Millisecond}
)

// turnID returns an id that is unique even if the tests run twice at once: a stopped turn ends every
// process that carries its id.
func turnID(t *testing.T) string { return fmt.Sprintf("%s-%d", t.Name(), os.Getpid()) }

// script returns a turn whose agent is a shell script.
func script(t *testing.T, text string) agent.Turn {
	return agent.Turn{
		ID:     turnID(t),
		Dir:    t.TempDir(),
		Member: agent.Member{Name: "tester", Command: "/bin/sh", Args: []string{"-c", text}},
	}
}

// runAs runs the test binary in a role of an agent, and returns its exit code.
func runAs(role string) int {
	switch role {
	case "echo": // like cat, in big pieces
		buf := make([]byte, 1<<20)
		for {
			n, err := os.Stdin.Read(buf)
			os.Stdout.Write(buf[:n])
			if err != nil {
				return 0
			}
		}
	case "script": // runs a shell script with the arguments
		args := append([]string{"sh", "-c", os.Getenv("AGENT_TEST_SCRIPT"), "agent"}, os.Args[1:]...)
		fmt.Println(syscall.Exec("/bin/sh", args, os.Environ()))
		return 1
	case "leave": // runs its arguments detached
		cmd := exec.Command(os.Args[1], os.Args[2:]...)
		cmd.Stdout = os.Stdout
		cmd.Env = append(os.Environ(), "AGENT_TEST_ROLE=")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			return 1
		}
		fmt.Println(cmd.Process.Pid)
		return 0
	case "owner":
		return runOwner()
	case "record":
		return runRecorded()
	case "playback":
		return runPlayback()
	}
	return 99
}

// self returns a turn whose agent is the test binary in a role.
func self(t *testing.T, role string, args ...string) agent.Turn {
	return agent.Turn{ID: turnID(t), Dir: t.TempDir(), Member: agent.Member{
		Command: os.Args[0], Args: args, Env: map[string]string{"AGENT_TEST_ROLE": role},
	}}
}

// pidsIn returns the process ids in a reply.
func pidsIn(t *testing.T, replied string) (pids []int) {
	t.Helper()
	for _, field := range strings.Fields(replied) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatalf("the reply is %q", replied)
		}
		pids = append(pids, pid)
	}
	if len(pids) == 0 {
		t.Fatal("the reply is empty")
	}
	return pids
}

// wantEnded checks that the processes have ended. A zombie has ended.
func wantEnded(t *testing.T, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d of %d is alive", pid, pids)
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func alive(pid int) bool {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		state := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])[0]
		return string(state) != "Z"
	}
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	state, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	if errors.Is(err, exec.ErrNotFound) {
		return syscall.Kill(pid, 0) == nil
	}
	return err == nil && !bytes.HasPrefix(bytes.TrimSpace(state), []byte("Z"))
}

func TestCommandPromptAndReply(t *testing.T) {
	turn := script(t, `printf 'Prompt: '; cat; printf '\n\n'`)
	turn.Prompt = "Build a shelf.\nToday."
	if got := mustReply(t, graceful, turn); got != "Prompt: Build a shelf.\nToday.\n\n" {
		t.Errorf("the reply is %q", got)
	}
}

func TestCommandArgumentsBypassShell(t *testing.T) {
	turn := script(t, `printf '%s|' "$@"`)
	turn.Member.Args = append(turn.Member.Args, "sh", "$HOME", "a b", "", `"; exit 1`)
	if got := mustReply(t, graceful, turn); got != `$HOME|a b||"; exit 1|` {
		t.Errorf("the arguments were %q", got)
	}
}

func TestCommandWorkingDirectory(t *testing.T) {
	turn := script(t, `pwd -P; echo "$PWD"`)
	real, err := filepath.EvalSymlinks(turn.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if got := mustReply(t, graceful, turn); got != real+"\n"+turn.Dir+"\n" {
		t.Errorf("the directory is %q, want %q", got, real)
	}
}

func TestCommandEnvironment(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "parent")
	t.Setenv("CLAUDECODE", "1")
	t.Setenv("OPENAI_API_KEY", "parent")
	t.Setenv("AGENT_TEST_KEPT", "kept")
	turn := script(t, `echo "$ANTHROPIC_API_KEY|$CLAUDECODE|$OPENAI_API_KEY|$AGENT_TEST_KEPT|$AGENT_CHATTER_TURN"`)
	turn.Member.Env = map[string]string{"OPENAI_API_KEY": "member", "AGENT_CHATTER_TURN": "forged"}
	if got, want := mustReply(t, graceful, turn), "||member|kept|"+turn.ID+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCommandStreamsReply(t *testing.T) {
	// The agent continues when the test has received the first piece.
	turn := script(t, `echo one; read line < go; echo "$line"`)
	fifo := filepath.Join(turn.Dir, "go")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	var pieces []string
	for event, err := range graceful.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		if pieces = append(pieces, event.(agent.Text).Text); len(pieces) == 1 {
			if err := os.WriteFile(fifo, []byte("two\n"), 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := strings.Join(pieces, ","); got != "one\n,two\n" {
		t.Errorf("the pieces are %q", got)
	}
}

func TestCommandHugePromptsAndReplies(t *testing.T) {
	prompt := strings.Repeat("日本語🙂 and more. ", huge/24)
	turn := self(t, "echo")
	turn.Prompt = prompt
	var replied strings.Builder
	for event, err := range graceful.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		piece := event.(agent.Text).Text
		if !utf8.ValidString(piece) {
			t.Fatalf("a piece of %d bytes is cut in a rune", len(piece))
		}
		replied.WriteString(piece)
	}
	if replied.String() != prompt {
		t.Errorf("%d of %d bytes were returned, or other ones", replied.Len(), len(prompt))
	}
}

func TestCommandNeedNotReadPrompt(t *testing.T) {
	for name, text := range map[string]string{
		"exits at once":    `echo hi`,
		"closes its input": `exec 0<&-; echo hi`,
		"reads one line":   `read line; echo hi`,
		"leaves a process": `sleep 300 <&0 >/dev/null & echo hi`,
	} {
		t.Run(name, func(t *testing.T) {
			turn := script(t, text)
			turn.Prompt = strings.Repeat("listen!\n", huge/8)
			if got := mustReply(t, graceful, turn); got != "hi\n" {
				t.Errorf("the reply is %q", got)
			}
		})
	}
}

func TestCommandMayWriteBeforeReading(t *testing.T) {
	turn := script(t, fmt.Sprintf(`head -c %d /dev/zero; head -c %d /dev/zero >&2; wc -c`, huge, 1<<20))
	turn.Prompt = strings.Repeat("x", huge)
	zeros, count := strings.Repeat("\x00", huge), strconv.Itoa(huge)
	got := mustReply(t, graceful, turn)
	if !strings.HasPrefix(got, zeros) || strings.TrimSpace(got[len(zeros):]) != count {
		t.Errorf("%d bytes were returned", len(got))
	}
}

func TestCommandStdinEnds(t *testing.T) {
	if got := mustReply(t, graceful, script(t, `cat; echo end`)); got != "end\n" {
		t.Errorf("the reply is %q", got)
	}
}

func TestCommandSlowConsumerGetsEverything(t *testing.T) {
	// The program exits long before its output is read.
	turn := script(t, `head -c 60000 /dev/zero; echo; echo $$ > done`)
	total := 0
	for event, err := range graceful.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		if total == 0 {
			waitForFile(t, filepath.Join(turn.Dir, "done"))
		}
		total += len(event.(agent.Text).Text)
	}
	if total != 60001 {
		t.Errorf("%d bytes were received", total)
	}
}

// waitForFile waits until a file is not empty, and returns its content.
func waitForFile(t *testing.T, path string) string {
	t.Helper()
	ctx := within(t)
	for {
		if content, err := os.ReadFile(path); err == nil && len(content) > 0 {
			return string(content)
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s was not written", path)
		}
	}
}

func TestCommandExitErrorHasCodeAndStderr(t *testing.T) {
	turn := script(t, `echo half a reply; head -c 100000 /dev/zero | tr '\0' e >&2; echo 'no credit left' >&2; exit 3`)
	replied, err := reply(within(t), graceful, turn)
	exit, ok := errors.AsType[*process.ExitError](err)
	if !ok || replied != "half a reply\n" {
		t.Fatalf("replied %q, then %v", replied, err)
	}
	if exit.Command != "/bin/sh" || exit.Code != 3 || exit.Signal != "" {
		t.Errorf("got %+v", exit)
	}
	if len(exit.Stderr) > 4096 || len(exit.Stderr) < 4000 || !strings.HasSuffix(exit.Stderr, "eno credit left") {
		t.Errorf("%d bytes of standard error were kept: %q", len(exit.Stderr), exit.Stderr)
	}
	if message := err.Error(); !strings.HasPrefix(message, `"/bin/sh" exited with code 3: e`) {
		t.Errorf("the message is %q", message)
	}
}

func TestCommandStderrOfSuccessIsIgnored(t *testing.T) {
	if got := mustReply(t, graceful, script(t, `echo warning >&2; echo hi`)); got != "hi\n" {
		t.Errorf("the reply is %q", got)
	}
}

// A program that prints only an error has no answer, whatever its exit code is.
func TestCommandStderrWithoutReplyIsTheReason(t *testing.T) {
	replied, err := reply(within(t), graceful, script(t, "echo out of memory >&2; printf '\\033[0m\\n'"))
	failure, ok := errors.AsType[*agent.FailureError](err)
	if replied != "\n" || !ok || !strings.Contains(failure.Reason, "out of memory") {
		t.Errorf("replied %q, %v", replied, err)
	}
}

func TestCommandExitErrorHasSignal(t *testing.T) {
	_, err := reply(within(t), graceful, script(t, `kill -KILL $$`))
	exit, ok := errors.AsType[*process.ExitError](err)
	if !ok || exit.Code != -1 || exit.Signal != "killed" {
		t.Fatalf("got %v", err)
	}
	want := `"/bin/sh" was ended by signal: killed without an error message: run it directly to see why`
	if err.Error() != want {
		t.Errorf("the message is %q", err)
	}
}

func TestCommandStartErrors(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string, mode fs.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	plain := write("plain", "#!/bin/sh\n", 0o600)
	write("lost", "#!/no/such/interpreter\n", 0o700)
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	write("noise", "\x01\x02\x03", 0o700)
	for _, tt := range []struct {
		name, command, dir string
		is                 error
		reason             string
	}{
		{"not in PATH", "no-such-agent", dir, exec.ErrNotFound, "command -v no-such-agent"},
		{"no such file", "./no-such-agent", dir, fs.ErrNotExist, "check the command"},
		{"not executable", plain, dir, fs.ErrPermission, "chmod +x " + plain},
		{"a directory", dir, dir, nil, "check the command"},
		{"interpreter missing", "./lost", dir, fs.ErrNotExist, "the program named in its first line"},
		{
			"interpreter of a program in PATH missing", "lost", dir, fs.ErrNotExist,
			"the program named in its first line",
		},
		{"neither program nor script", "./noise", dir, syscall.ENOEXEC, "#!/bin/sh"},
		{"hostile name", "nope$(touch pwned)", dir, exec.ErrNotFound, "command -v 'nope$(touch pwned)'"},
		{"no command", "", dir, exec.ErrNotFound, `"command"`},
		{"NUL in the name", "a\x00b", dir, nil, "command -v 'a\uFFFDb'"},
		{"no such directory", "/bin/sh", filepath.Join(dir, "gone"), fs.ErrNotExist, "baseDir"},
		{"a file as directory", "/bin/sh", plain, nil, "baseDir"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			turn := agent.Turn{ID: "t", Dir: tt.dir, Member: agent.Member{Command: tt.command}}
			replied, err := reply(within(t), graceful, turn)
			start, ok := errors.AsType[*process.StartError](err)
			if !ok || replied != "" || start.Command != tt.command {
				t.Fatalf("replied %q, then %v", replied, err)
			}
			if tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("%v is not %v", err, tt.is)
			}
			if !strings.Contains(withHint(err), tt.reason) {
				t.Errorf("%v does not contain %q", err, tt.reason)
			}
		})
	}
}

func TestCommandLookup(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "bin", "mate"), []byte("#!/bin/sh\necho ahoy\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	turn := agent.Turn{Dir: dir, Member: agent.Member{Command: "bin/mate"}}
	if got := mustReply(t, graceful, turn); got != "ahoy\n" {
		t.Errorf("the reply is %q", got)
	}
	turn.Member.Command = "mate"
	turn.Member.Env = map[string]string{"PATH": "/nowhere:" + filepath.Join(dir, "bin")}
	if got := mustReply(t, graceful, turn); got != "ahoy\n" {
		t.Errorf("with the member's PATH the reply is %q", got)
	}
}

// cancelAfterFirst runs the turn, cancels it at the first event, and checks that this is the turn's
// error. It returns the reply.
func cancelAfterFirst(t *testing.T, e agent.Engine, turn agent.Turn) string {
	t.Helper()
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var replied strings.Builder
	var last error
	for event, err := range e.Run(ctx, turn) {
		if last = err; err == nil {
			if text, ok := event.(agent.Text); ok {
				replied.WriteString(text.Text)
			}
			cancel(errCancelled)
		}
	}
	if !errors.Is(last, errCancelled) {
		t.Errorf("the last error is %v", last)
	}
	return replied.String()
}

func TestCommandCancelEndsGroup(t *testing.T) {
	for _, tt := range []struct {
		name   string
		engine agent.Command
		text   string
	}{
		{"agent with child", graceful, `sleep 300 & echo $$ $!; sleep 300`},
		{"child in subshell", graceful, `(sleep 300 & echo $$ $!; sleep 300)`},
		{"agent ignores SIGTERM", abrupt, `trap '' TERM; sleep 300 & echo $$ $!; wait`},
		{"child ignores SIGTERM", abrupt, `(trap '' TERM; exec sleep 300) & echo $$ $!; wait`},
		{"agent is suspended", graceful, `sleep 300 & echo $$ $!; kill -STOP $$`},
		{"agent closed its output", graceful, `echo $$; exec >/dev/null 2>&1; sleep 300`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			replied := cancelAfterFirst(t, tt.engine, script(t, tt.text))
			wantEnded(t, pidsIn(t, replied)...)
		})
	}
}

func TestCommandStopOverridesExitCode(t *testing.T) {
	// Short sleeps, because a shell with a trap may lose a signal in a child that was just forked.
	turn := script(t, `trap 'echo bye; exit 0' TERM; echo hi; while :; do sleep 0.01; done`)
	if replied := cancelAfterFirst(t, graceful, turn); replied != "hi\nbye\n" {
		t.Errorf("the reply is %q", replied)
	}
}

func TestCommandGraceAppliesToGroup(t *testing.T) {
	// SIGTERM ends the agent; its child cleans up after that.
	turn := script(t, `
		parent=$$
		(trap 'while kill -0 $parent 2>/dev/null; do :; done; echo clean > state; exit' TERM
		 echo ready; while :; do sleep 0.01; done) &
		exec sleep 300`)
	cancelAfterFirst(t, graceful, turn)
	state, err := os.ReadFile(filepath.Join(turn.Dir, "state"))
	if err != nil || string(state) != "clean\n" {
		t.Errorf("the child left %q, %v", state, err)
	}
}

func TestCommandStopsWhileConsumerIsBusy(t *testing.T) {
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	var last error
	for event, err := range graceful.Run(ctx, script(t, `echo $$; sleep 300`)) {
		if last = err; err != nil {
			break
		}
		cancel(errCancelled)
		// The loop's body waits for the end of a process that only the engine can end.
		pid := pidsIn(t, event.(agent.Text).Text)[0]
		for limit := within(t); alive(pid); {
			if limit.Err() != nil {
				t.Fatal("it was not stopped")
			}
		}
	}
	if !errors.Is(last, errCancelled) {
		t.Errorf("the last error is %v", last)
	}
}

func TestCommandCancelledTurnStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errCancelled)
	turn := script(t, `echo hi > ran`)
	if replied, err := reply(ctx, graceful, turn); replied != "" || !errors.Is(err, errCancelled) {
		t.Errorf("replied %q, then %v", replied, err)
	}
	if _, err := os.Stat(filepath.Join(turn.Dir, "ran")); err == nil {
		t.Error("the agent ran")
	}
}

func TestCommandTimeout(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := reply(ctx, abrupt, script(t, `sleep 300`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the error is %v", err)
	}
}

func TestCommandLeavingLoopEndsGroup(t *testing.T) {
	for name, text := range map[string]string{
		"silent":   `sleep 300 & echo $$ $!; sleep 300`,
		"printing": `sleep 300 & echo $$ $!; while :; do echo and then; done`,
		"finished": `sleep 300 & echo $$ $!`,
	} {
		t.Run(name, func(t *testing.T) {
			var first string
			for event, err := range graceful.Run(within(t), script(t, text)) {
				if err != nil {
					t.Fatal(err)
				}
				first = event.(agent.Text).Text
				break
			}
			line, _, _ := strings.Cut(first, "\n")
			wantEnded(t, pidsIn(t, line)...)
		})
	}
}

func TestCommandPanicInLoopEndsGroup(t *testing.T) {
	var pid int
	func() {
		defer func() { _ = recover() }()
		for event := range graceful.Run(within(t), script(t, `echo $$; sleep 300`)) {
			pid = pidsIn(t, event.(agent.Text).Text)[0]
			panic("stop")
		}
	}()
	wantEnded(t, pid)
}

func TestCommandExitEndsGroup(t *testing.T) {
	replied := mustReply(t, graceful, script(t, `sleep 300 & echo $$ $!`))
	wantEnded(t, pidsIn(t, replied)...)
}

func TestCommandIgnoresDetachedOutput(t *testing.T) {
	for name, text := range map[string]string{
		"silent":   `exec sleep 300`,
		"printing": `while :; do echo 1; done`,
	} {
		t.Run(name, func(t *testing.T) {
			replied := mustReply(t, graceful, self(t, "leave", "/bin/sh", "-c", text))
			detached := 0
			for _, pid := range pidsIn(t, replied) {
				if detached = max(detached, pid); pid != 1 {
					t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
				}
			}
			if name == "silent" && !alive(detached) {
				t.Error("the detached process was ended with a turn that was not stopped")
			}
		})
	}
}

func TestCommandSequenceIsReusable(t *testing.T) {
	events := graceful.Run(within(t), script(t, `echo hi`))
	for range 2 {
		n := 0
		for _, err := range events {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 1 {
			t.Errorf("%d events", n)
		}
	}
}
