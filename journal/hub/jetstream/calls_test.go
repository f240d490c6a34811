package jetstream

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// TestRefusalEndsOnlyTheRefusedCalls reports a missing permission for one of two calls that are under way.
func TestRefusalEndsOnlyTheRefusedCalls(t *testing.T) {
	e := &Engine{timeout: DefaultTimeout, calls: map[int]call{}}
	subject := subjectOf(hub.Session{Team: "team", ID: "01JD0000000000000000000000"})
	publish, done := e.call(t.Context(), subject)
	defer done()
	purge, done := e.call(t.Context(), apiStreamPurge)
	defer done()
	for _, text := range []string{
		`Permissions Violation for Subscription to "_INBOX.x"`,
		`Permissions Violation for Publish to "$JS.API.CONSUMER.DELETE.X.y"`,
		`Permissions Violation for Publish to "$JS.API.STREAM.PURGE.X"`,
	} {
		e.refuse(fmt.Errorf("%w: %s", nats.ErrPermissionViolation, text))
	}
	if !errors.As(context.Cause(purge), new(*hub.RefusedError)) {
		t.Errorf("the purge ends with %v", context.Cause(purge))
	}
	if publish.Err() != nil {
		t.Errorf("the publish ends with %v", context.Cause(publish))
	}
}
