//go:build unix

package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
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

func TestACPCloseKillsStubbornProgram(t *testing.T) {
	e, turn := &agent.ACP{Grace: time.Millisecond}, acpTurn(t, "where", agenttest.Stubborn)
	program, err := strconv.Atoi(where(t, e, turn).process)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	wantEnded(t, program)
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
