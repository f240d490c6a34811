package jetstream

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// The beginnings of the subjects to which the library sends the requests of JetStream.
const (
	apiStreamNames    = jetstream.DefaultAPIPrefix + "STREAM.NAMES"
	apiStreamInfo     = jetstream.DefaultAPIPrefix + "STREAM.INFO."
	apiStreamCreate   = jetstream.DefaultAPIPrefix + "STREAM.CREATE."
	apiStreamUpdate   = jetstream.DefaultAPIPrefix + "STREAM.UPDATE."
	apiStreamPurge    = jetstream.DefaultAPIPrefix + "STREAM.PURGE."
	apiMessageGet     = jetstream.DefaultAPIPrefix + "STREAM.MSG.GET."
	apiConsumerCreate = jetstream.DefaultAPIPrefix + "CONSUMER.CREATE."
	apiConsumerNext   = jetstream.DefaultAPIPrefix + "CONSUMER.MSG.NEXT."
	apiConsumerDelete = jetstream.DefaultAPIPrefix + "CONSUMER.DELETE."
)

// call is a call that is under way.
type call struct {
	subjects []string // the beginnings of those to which it publishes
	cancel   context.CancelCauseFunc
}

// call returns the context of a call that publishes to subjects with one of some beginnings. It ends after the timeout,
// and if the permission for one of the subjects is missing.
func (e *Engine) call(ctx context.Context, subjects ...string) (context.Context, context.CancelFunc) {
	ctx, done := e.longCall(ctx, subjects...)
	ctx, stop := context.WithTimeout(ctx, e.timeout)
	return ctx, func() {
		stop()
		done()
	}
}

// longCall is call without the timeout.
func (e *Engine) longCall(ctx context.Context, subjects ...string) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lastID++
	id := e.lastID
	e.calls[id] = call{subjects, cancel}
	return ctx, func() {
		cancel(nil)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.calls, id)
	}
}

// refuse ends the calls that are under way and publish to a subject for which the server reports a missing permission:
// it does not answer the request then. Other calls continue, as their messages may be stored.
func (e *Engine) refuse(err error) {
	if !errors.Is(err, nats.ErrPermissionViolation) {
		return
	}
	reason := "permission is missing"
	if _, subject, ok := strings.Cut(err.Error(), "Permissions Violation for "); ok { // such as Publish to "…"
		reason += ": " + strings.ToLower(subject[:1]) + subject[1:]
	}
	_, denied, _ := strings.Cut(err.Error(), `Publish to "`)
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, c := range e.calls {
		if slices.ContainsFunc(c.subjects, func(s string) bool { return strings.HasPrefix(denied, s) }) {
			c.cancel(&hub.RefusedError{Reason: reason})
		}
	}
}
