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

// withRealAgents runs a test with every agent that is installed, some at a time, each in a
// directory, with a home and a model of its own. Everything that it leaves running fails it.
func withRealAgents(t *testing.T, test func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model)) {
	agenttest.SkipUnlessReal(t)
	for _, a := range agenttest.Reals {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			model, e := agenttest.NewModel(t), realEngine(a)
			turn := agent.Turn{ID: turnID(t), Dir: t.TempDir(), Permit: func(context.Context, agent.Permission) bool { return true }}
			turn.Member = a.Member(t, turn.Dir, model.URL, "x")
			test(t, a, e, turn, model)
			if e, lasts := e.(agent.Resident); lasts {
				e.Close()
			}
			for pid, command := range agenttest.Running(turn.ID) {
				t.Errorf("process %d is left: %s", pid, command)
			}
		})
	}
}

func realEngine(a agenttest.Real) agent.Engine {
	return map[string]agent.Engine{"claude": agent.Claude(), "codex": agent.Codex(), "gemini": agent.Gemini(), "acp": &agent.ACP{}}[a.Engine]
}

// realTime is how long a real agent may take on a busy machine.
const realTime = 2 * time.Minute

func realReply(t *testing.T, e agent.Engine, turn agent.Turn) (said, session string, used int64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realTime)
	defer cancel()
	var text strings.Builder
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			t.Fatalf("behind %q: %v", text.String(), err)
		}
		switch e := event.(type) {
		case agent.Text:
			text.WriteString(e.Text)
		case agent.Session:
			session = e.ID
		case agent.Usage:
			used = e.InputTokens
		}
	}
	return text.String(), session, used
}

func TestRealAgentsAnswer(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "Build a shelf of oak."
		said, session, used := realReply(t, e, turn)
		if said != agenttest.ModelReply || session == "" || used == 0 || !model.Received("a shelf of oak") {
			t.Errorf("it said %q in session %q for %d tokens, heard: %v", said, session, used, model.Received("a shelf of oak"))
		}
	})
}

func TestRealAgentsUseToolsAndSaySo(t *testing.T) {
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
		if string(made) != "made\n" || len(started) != 1 || !strings.Contains(started[0], "echo made") || len(completed) != 1 {
			t.Errorf("made %q, %v; started %q, completed %q", made, err, started, completed)
		}
	})
}

// cancelWhen runs a turn and cancels it when something has happened. It is what was said until
// then, and how long it took from there until control was back.
func cancelWhen(t *testing.T, e agent.Engine, turn agent.Turn, happened func(ctx context.Context)) (said string, took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	limit, stop := context.WithTimeout(t.Context(), realTime)
	defer stop()
	var at time.Time
	go func() {
		happened(limit)
		at = time.Now()
		cancel(errEnoughSaid)
	}()
	said, err := reply(ctx, e, turn)
	if !errors.Is(err, errEnoughSaid) {
		t.Fatalf("it ended with %v behind %q", err, said)
	}
	return said, time.Since(at)
}

func TestRealAgentsAreCancelledInTheirReply(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		turn.Prompt = "slow 200"
		said, took := cancelWhen(t, e, turn, func(ctx context.Context) {
			for range 20 {
				select {
				case <-model.Streamed():
				case <-ctx.Done():
				}
			}
		})
		t.Logf("back within %s, behind %q", took.Round(time.Millisecond), said)
		turn.ID, turn.Prompt = turn.ID+"-again", "hello"
		if said, _, _ := realReply(t, e, turn); said != agenttest.ModelReply {
			t.Errorf("the next reply is %q", said)
		}
	})
}

func TestRealAgentsAreCancelledInATool(t *testing.T) {
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
				time.Sleep(20 * time.Millisecond) // the system gives no notice of a process's start
			}
		})
		t.Logf("back within %s", took.Round(time.Millisecond))
		if runs() {
			t.Errorf("the tool is left: %v", agenttest.Running(turn.ID))
		}
		again := turn
		again.ID, again.Prompt = turn.ID+"-again", "hello"
		if said, _, _ := realReply(t, e, again); said != agenttest.ModelReply {
			t.Errorf("the next reply is %q", said)
		}
	})
}

func TestRealAgentsSayThatTheirAPIRefuses(t *testing.T) {
	withRealAgents(t, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, _ *agenttest.Model) {
		turn.Prompt = "fail 400"
		_, err := reply(t.Context(), e, turn)
		if failure, ok := errors.AsType[*agent.FailureError](err); !ok || !strings.Contains(failure.Reason, "out of luck") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRealAgentsThatHangAreStopped(t *testing.T) {
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
