package agent_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A message to an agent that works reaches it in its turn: after the tool that runs, or after the reply that it writes.
func TestRealAgentsAreSteered(t *testing.T) {
	steerable := func(r agenttest.Real) bool { return r.Engine == "claude" || r.Engine == "codex" }
	withReal(t, steerable, func(
		t *testing.T, r agenttest.Real, engine agent.Engine, turn agent.Turn, model *agenttest.Model,
	) {
		turn.Member.Permissions = agent.Ask
		turn.Permit = func(context.Context, agent.Permission) agent.Grant { return agent.AllowedOnce }
		opened, err := engine.(agent.SessionEngine).Open(within(t), turn, agent.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		defer opened.Close()
		s := opened.(agent.Steerable)
		if s.Steer("early", "EARLY-WORD") {
			t.Error("a session without a turn takes a message")
		}
		released := filepath.Join(turn.Dir, "released")
		for _, prompt := range []string{"tool <<until test -e released; do sleep 0.05; done>>", "slow 10"} {
			turn.Prompt = prompt
			sent, taken := false, ""
			for event, err := range s.Turn(within(t), turn) {
				if err != nil {
					t.Fatalf("%s: %v", prompt, err)
				}
				_, isTool := event.(agent.ToolStarted)
				_, isText := event.(agent.Text)
				if !sent && (isTool || isText) {
					sent = s.Steer("late", "LATE-WORD "+prompt[:4])
					if err := os.WriteFile(released, nil, 0o600); err != nil {
						t.Fatal(err)
					}
				}
				if e, ok := event.(agent.Taken); ok {
					taken += e.ID
				}
			}
			if !sent || taken != "late" {
				t.Errorf("%s: sent: %v, taken: %q", prompt, sent, taken)
			}
			bodies := model.Bodies()
			if last := bodies[len(bodies)-1]; !strings.Contains(last, "LATE-WORD "+prompt[:4]) {
				t.Errorf("%s: the last request lacks the message", prompt)
			}
			if s.Steer("after", "AFTER-WORD") {
				t.Errorf("%s: a turn that has ended takes a message", prompt)
			}
		}
		turn.Prompt = "say <<done>>"
		for _, err := range s.Turn(within(t), turn) {
			if err != nil {
				t.Errorf("the next turn: %v", err)
			}
		}
		if model.Received("EARLY-WORD") || model.Received("AFTER-WORD") {
			t.Error("a message without a turn was sent")
		}
	})
}
