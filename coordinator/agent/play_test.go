package agent_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// never is the timeout of an engine that a test must not reach.
const never = time.Hour

// errCancelled is the cause of cancelled contexts.
var errCancelled = errors.New("cancelled by the test")

// TestMain is also the main function of the agents of some tests, and of guards.
func TestMain(m *testing.M) {
	agenttest.Play()
	if role := os.Getenv("AGENT_TEST_ROLE"); role != "" {
		os.Exit(runAs(role))
	}
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

// within returns a context that is done shortly before the test binary times out, so that a
// test that hangs reports it. A shorter time would depend on the load of the machine.
func within(t *testing.T) context.Context {
	t.Helper()
	deadline, ok := t.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), deadline.Add(-10*time.Second))
	t.Cleanup(cancel)
	return ctx
}

// reply runs the turn and returns its text.
func reply(ctx context.Context, e agent.Engine, turn agent.Turn) (string, error) {
	var replied strings.Builder
	for event, err := range e.Run(ctx, turn) {
		if err != nil {
			return replied.String(), err
		}
		if text, ok := event.(agent.Text); ok {
			replied.WriteString(text.Text)
		}
	}
	return replied.String(), nil
}

// mustReply returns the reply of a turn that must succeed.
func mustReply(t *testing.T, e agent.Engine, turn agent.Turn) string {
	t.Helper()
	replied, err := reply(within(t), e, turn)
	if err != nil {
		t.Fatalf("the turn failed: %v", err)
	}
	return replied
}
