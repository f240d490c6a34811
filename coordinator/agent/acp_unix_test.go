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

// sweeps reports whether what has left a process group can be found.
const sweeps = runtime.GOOS == "linux"

// cancelInTool cancels a turn when the agent has started a tool, and is the tool's process.
func cancelInTool(t *testing.T, e *agent.ACP, turn agent.Turn) (pid int) {
	t.Helper()
	ctx, cancel := cancelled(t)
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
	if !errors.Is(last, errEnoughSaid) || pid == 0 {
		t.Fatalf("the tool is %d, the last error %v", pid, last)
	}
	return pid
}

func TestNoToolSurvivesATurnThatIsStopped(t *testing.T) {
	if !sweeps {
		t.Skip("processes of other sessions cannot be found here")
	}
	for _, tt := range []struct {
		name   string
		habits []agenttest.Habit
		stays  bool // the agent's program
	}{
		{"that ends it", nil, true},
		{"that leaves it running", []agenttest.Habit{agenttest.Careless}, false},
		{"that does not listen", []agenttest.Habit{agenttest.Stubborn}, false},
	} {
		t.Run("of an agent "+tt.name, func(t *testing.T) {
			e, turn := newACP(t), speaks(t, "where", tt.habits...)
			if !tt.stays {
				e.Grace = 50 * time.Millisecond
			}
			program, err := strconv.Atoi(where(t, e, turn).process)
			if err != nil {
				t.Fatal(err)
			}
			wantGone(t, cancelInTool(t, e, again(turn, "tool")))
			if alive(program) != tt.stays {
				t.Errorf("the program is alive: %v", !tt.stays)
			}
			if got := mustReply(t, e, again(turn, "say on")); got != "on" {
				t.Errorf("the next reply is %q", got)
			}
		})
	}
}

func TestWhatAnAgentOfTheProtocolWasAskedToStartStays(t *testing.T) {
	e, turn := newACP(t), speaks(t, "serve")
	server := numbers(t, mustReply(t, e, turn))[0]
	program, err := strconv.Atoi(where(t, e, again(turn, "where")).process)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	wantGone(t, program)
	if !alive(server) {
		t.Error("the server was ended")
	}
	endProcess(t, server)
}

func TestAStubbornProgramEndsWhenItIsClosed(t *testing.T) {
	e, turn := &agent.ACP{Grace: time.Millisecond}, speaks(t, "where", agenttest.Stubborn)
	program, err := strconv.Atoi(where(t, e, turn).process)
	if err != nil {
		t.Fatal(err)
	}
	e.Close()
	wantGone(t, program)
}

// endProcess ends a process that a test has left running on purpose.
func endProcess(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error(err)
	}
}

// cancelled is a context to be cancelled because enough was said.
func cancelled(t *testing.T) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(within(t))
	return ctx, func() { cancel(errEnoughSaid) }
}
