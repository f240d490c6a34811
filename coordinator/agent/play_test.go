package agent_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// patience is how long a test waits for what should happen at once.
const patience = 30 * time.Second

// TestMain is also the program that some tests run as an agent.
func TestMain(m *testing.M) {
	agenttest.Play()
	if role := os.Getenv("AGENT_TEST_ROLE"); role != "" {
		os.Exit(play(role))
	}
	journaltest.UseMemory()
	os.Exit(m.Run())
}

// within is a context that ends when a test has waited too long.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// reply runs the turn to its end.
func reply(ctx context.Context, e agent.Engine, turn agent.Turn) (string, error) {
	var said strings.Builder
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			return said.String(), err
		}
		if text, ok := event.(agent.Text); ok {
			said.WriteString(text.Text)
		}
	}
	return said.String(), nil
}

// mustReply is the reply of a turn that succeeds.
func mustReply(t *testing.T, e agent.Engine, turn agent.Turn) string {
	t.Helper()
	said, err := reply(within(t), e, turn)
	if err != nil {
		t.Fatalf("the turn failed: %v", err)
	}
	return said
}
