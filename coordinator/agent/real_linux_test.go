package agent_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A realTest tests an agent with its engine, a turn without a prompt, and its model.
type realTest func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model)

// withRealAgents runs a test with every installed agent, in parallel, each with its own directory,
// home and model. Processes that are left running fail the test.
func withRealAgents(t *testing.T, test realTest) {
	withReal(t, func(agenttest.Real) bool { return true }, test)
}

// withReal is withRealAgents for some of the agents.
func withReal(t *testing.T, some func(agenttest.Real) bool, test realTest) {
	agenttest.SkipUnlessReal(t)
	for _, a := range agenttest.Reals {
		if !some(a) {
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			model, e := agenttest.NewModel(t), realEngine(a)
			turn := agent.Turn{ID: turnID(t), Dir: t.TempDir()}
			turn.Permit = func(context.Context, agent.Permission) agent.Grant { return agent.AllowedOnce }
			turn.Member = a.Member(t, turn.Dir, model.URL, "x")
			test(t, a, e, turn, model)
			if e, ok := e.(agent.Resident); ok {
				e.Close()
			}
			for pid, command := range agenttest.Running(turn.ID) {
				t.Errorf("process %d is still running: %s", pid, command)
			}
		})
	}
}

func realEngine(a agenttest.Real) agent.Engine {
	return map[string]agent.Engine{
		"claude": agent.Claude{}, "codex": agent.Codex{}, "gemini": agent.Gemini(), "acp": &agent.ACP{},
	}[a.Engine]
}

// realTime is how long a turn of a real agent may take on a busy machine.
const realTime = 2 * time.Minute

func realReply(t *testing.T, e agent.Engine, turn agent.Turn) (replied, session string, used int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realTime)
	defer cancel()
	var text strings.Builder
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			t.Fatalf("after %q: %v", text.String(), err)
		}
		switch e := event.(type) {
		case agent.Text:
			text.WriteString(e.Text)
		case agent.SessionStarted:
			session = e.ID
		case agent.Usage:
			used = e.Input + e.CachedRead + e.CachedWrite
		}
	}
	return text.String(), session, used
}

func TestRealAgentsReply(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "Build a shelf of oak."
		replied, session, used := realReply(t, e, turn)
		if replied != agenttest.ModelReply || session == "" || used == 0 || !model.Received("a shelf of oak") {
			t.Errorf("reply %q, session %q, %d tokens, prompt received: %v",
				replied, session, used, model.Received("a shelf of oak"))
		}
	})
}

func TestRealAgentsReportTools(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		turn.Prompt = "tool <<echo made > made>>"
		var started, completed []string
		ctx, cancel := context.WithTimeout(t.Context(), realTime)
		defer cancel()
		for event, err := range e.Run(ctx, turn) {
			if err != nil {
				t.Fatal(err)
			}
			switch e := event.(type) {
			case agent.ToolStarted:
				started = append(started, fmt.Sprintf("%s %s", e.Name, e.Input))
			case agent.ToolCompleted:
				completed = append(completed, e.Name+" "+e.Error)
			}
		}
		made, err := os.ReadFile(filepath.Join(turn.Dir, "made"))
		if string(made) != "made\n" || len(started) != 1 || !strings.Contains(started[0], "echo made") ||
			len(completed) != 1 {
			t.Errorf("made %q, %v; started %q, completed %q", made, err, started, completed)
		}
	})
}

// cancelWhen runs a turn and cancels it when happened returns. It returns the reply until then, and
// how long the cancellation took.
func cancelWhen(t *testing.T, e agent.Engine, turn agent.Turn, happened func(context.Context)) (string, time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	limit, stop := context.WithTimeout(t.Context(), realTime)
	defer stop()
	var at time.Time
	go func() {
		happened(limit)
		at = time.Now()
		cancel(errCancelled)
	}()
	replied, err := reply(ctx, e, turn)
	if !errors.Is(err, errCancelled) {
		t.Fatalf("got %v after %q", err, replied)
	}
	return replied, time.Since(at)
}

func TestRealAgentsCancelReply(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "slow 200"
		replied, took := cancelWhen(t, e, turn, func(ctx context.Context) {
			for range 20 {
				select {
				case <-model.Streamed():
				case <-ctx.Done():
				}
			}
		})
		t.Logf("cancelled within %s, after %q", took.Round(time.Millisecond), replied)
		turn.ID, turn.Prompt = turn.ID+"-again", "hello"
		if replied, _, _ := realReply(t, e, turn); replied != agenttest.ModelReply {
			t.Errorf("the next reply is %q", replied)
		}
	})
}

func TestRealAgentsCancelTool(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		const tool = "tail -f /dev/null"
		turn.Prompt = "tool <<" + tool + ">>"
		runs := func() bool {
			for _, command := range agenttest.Running(turn.ID) {
				if command == tool {
					return true
				}
			}
			return false
		}
		_, took := cancelWhen(t, e, turn, func(ctx context.Context) {
			for !runs() && ctx.Err() == nil {
				time.Sleep(20 * time.Millisecond) // the system does not notify of a process's start
			}
		})
		t.Logf("cancelled within %s", took.Round(time.Millisecond))
		if runs() {
			t.Errorf("the tool is still running: %v", agenttest.Running(turn.ID))
		}
		nextTurn := turn
		nextTurn.ID, nextTurn.Prompt = turn.ID+"-again", "hello"
		if replied, _, _ := realReply(t, e, nextTurn); replied != agenttest.ModelReply {
			t.Errorf("the next reply is %q", replied)
		}
	})
}

func TestRealAgentsReportAPIErrors(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		turn.Prompt = "fail 400"
		_, err := reply(t.Context(), e, turn)
		failure, ok := errors.AsType[*agent.FailureError](err)
		if !ok || !strings.Contains(failure.Reason, "out of luck") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRealAgentsStopHangingReply(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "hang"
		tooLong := errors.New("it took too long")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		go func() {
			<-model.Streamed()
			time.AfterFunc(2*time.Second, func() { cancel(tooLong) })
		}()
		if _, err := reply(ctx, e, turn); !errors.Is(err, tooLong) {
			t.Errorf("got %v", err)
		}
	})
}
