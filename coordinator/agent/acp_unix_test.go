//go:build unix

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// findsDetached is whether the engine finds processes that left the agent's process group: it finds them
// by their environment, which only Linux shows.
const findsDetached = runtime.GOOS == "linux"

// cancelInTool cancels a turn when the agent has started a tool, and returns the tool's process id.
func cancelInTool(t *testing.T, e *agent.ACP, turn agent.Turn) (pid int) {
	t.Helper()
	ctx, cancel := cancellable(t)
	defer cancel()
	var last error
	for event, err := range e.Run(ctx, turn) {
		last = err
		if tool, ok := event.(agent.ToolStarted); ok {
			var input struct{ PID int }
			if err := json.Unmarshal(tool.Input, &input); err != nil {
				t.Fatal(err)
			}
			pid = input.PID
			cancel()
		}
	}
	if !errors.Is(last, errCancelled) || pid == 0 {
		t.Fatalf("the tool is process %d, the last error %v", pid, last)
	}
	return pid
}

func TestACPStoppedTurnEndsTools(t *testing.T) {
	if !findsDetached {
		t.Skip("detached processes cannot be found on this system")
	}
	for _, tt := range []struct {
		name   string
		habits []agenttest.Habit
		stays  bool // the agent's program is still running afterwards
	}{
		{"ends tool", nil, true},
		{"leaves tool running", []agenttest.Habit{agenttest.Careless}, false},
		{"ignores cancellation", []agenttest.Habit{agenttest.Stubborn}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, turn := newACP(t), acpTurn(t, "where", tt.habits...)
			if !tt.stays {
				e.Grace = 50 * time.Millisecond
			}
			program, err := strconv.Atoi(where(t, e, turn).process)
			if err != nil {
				t.Fatal(err)
			}
			wantEnded(t, cancelInTool(t, e, nextTurn(turn, "tool")))
			if alive(program) != tt.stays {
				t.Errorf("the program is alive: %v", !tt.stays)
			}
			if got := mustReply(t, e, nextTurn(turn, "say on")); got != "on" {
				t.Errorf("the next reply is %q", got)
			}
		})
	}
}

func TestACPCloseKeepsDetachedServer(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "serve")
	server := pidsIn(t, mustReply(t, e, turn))[0]
	program, err := strconv.Atoi(where(t, e, nextTurn(turn, "where")).process)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	wantEnded(t, program)
	if !alive(server) {
		t.Error("the server was ended")
	}
	endProcess(t, server)
}

// acpScript returns a turn whose agent is a shell script that prints a line for each one that it reads, writes
// its process id to the file pid, and does not exit when its input ends.
func acpScript(t *testing.T, lines ...string) agent.Turn {
	turn := script(t, `echo $$ > pid; for line; do read request; printf '%s\n' "$line"; done; exec sleep 300`)
	turn.Member.Args = append(append(turn.Member.Args, "sh"), lines...)
	return turn
}

func TestACPFailedStartEndsProgram(t *testing.T) {
	for reason, turn := range map[string]agent.Turn{
		"it speaks version 0": acpScript(t, `{"id":1,"result":{"protocolVersion":0}}`),
		"no session":          acpScript(t, `{"id":1,"result":{"protocolVersion":1}}`, `{"id":2,"error":{"message":"no session"}}`),
	} {
		e := newACP(t)
		if _, err := reply(within(t), e, turn); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("got %v, want %q", err, reason)
		}
		wantEnded(t, pidsIn(t, waitForFile(t, filepath.Join(turn.Dir, "pid")))...)
	}
}

func TestACPFailedSessionEndsIdleProgram(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	program, err := strconv.Atoi(where(t, e, turn).process)
	if err != nil {
		t.Fatal(err)
	}
	other := nextTurn(turn, "where")
	other.Member.Model = "opus"
	if _, err := reply(within(t), e, other); err == nil || !strings.Contains(err.Error(), "no choice of models") {
		t.Errorf("got %v", err)
	}
	wantEnded(t, program)
	if got := mustReply(t, e, nextTurn(turn, "say on")); got != "on" {
		t.Errorf("the next reply is %q", got)
	}
}

func TestACPQuotesProgramThatDoesNotInitialize(t *testing.T) {
	want := `it does not answer in the Agent Client Protocol, and printed “Welcome, my friend!”`
	for start := 50 * time.Millisecond; ; start *= 2 { // it has to print the line in time
		e := &agent.ACP{Grace: never, Start: start}
		_, err := reply(within(t), e, script(t, `echo 'Welcome, my friend!'; exec sleep 300`))
		switch {
		case err == nil || start > time.Minute:
			t.Fatalf("got %v, want %q", err, want)
		case strings.Contains(err.Error(), want):
			return
		}
	}
}

func TestACPKeepsOneProgramOfConcurrentTurns(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "where")
	var inner, outer location
	for event, err := range e.Run(within(t), turn) {
		if err != nil {
			t.Fatal(err)
		}
		switch event := event.(type) {
		case agent.SessionStarted:
			inner = where(t, e, nextTurn(turn, "where"))
		case agent.Text:
			outer.process = strings.Fields(event.Text)[2]
		}
	}
	wantEnded(t, pidsIn(t, inner.process)...)
	if got := where(t, e, nextTurn(turn, "where")).process; got != outer.process || got == inner.process {
		t.Errorf("the processes were %s and %s; the next is %s", outer.process, inner.process, got)
	}
}

func TestACPCloseKillsStubbornProgram(t *testing.T) {
	e, turn := &agent.ACP{Grace: time.Millisecond}, acpTurn(t, "where", agenttest.Stubborn)
	program, err := strconv.Atoi(where(t, e, turn).process)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	wantEnded(t, program)
}

// runOwner runs one turn for each argument, prints the texts and tools, and waits until it is killed.
// The argument close ends the agent; leave is a turn of another agent, which starts a detached process.
func runOwner() int {
	acp := &agent.ACP{Grace: never, Start: never}
	turn := agent.Turn{
		ID: os.Getenv("AGENT_TEST_TURN"), Dir: os.TempDir(), Guard: new(process.Guard), Member: agenttest.Member(),
	}
	for _, prompt := range os.Args[1:] {
		turn = nextTurn(turn, prompt)
		next, e := turn, agent.Engine(acp)
		switch prompt {
		case "close":
			acp.Close()
			continue
		case "leave":
			next.Member = agent.Member{
				Command: os.Args[0], Args: []string{"/bin/sleep", "300"}, Env: map[string]string{"AGENT_TEST_ROLE": "leave"},
			}
			e = graceful
		}
		for event, err := range e.Run(context.Background(), next) {
			switch event := event.(type) {
			case agent.Text:
				fmt.Println("text", strings.TrimSpace(event.Text))
			case agent.ToolStarted:
				fmt.Println("tool", string(event.Input))
			}
			if err != nil {
				fmt.Println("error", err)
				return 1
			}
		}
	}
	fmt.Println("idle")
	io.Copy(io.Discard, os.Stdin)
	return 0
}

// endProcess kills a process that is meant to be still running.
func endProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// cancellable returns a context and a function that cancels it with errCancelled.
func cancellable(t *testing.T) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(within(t))
	return ctx, func() { cancel(errCancelled) }
}
