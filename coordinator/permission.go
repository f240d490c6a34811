package coordinator

import (
	"cmp"
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// permissionRequest is a request for permission of a running agent.
type permissionRequest struct {
	ctx        context.Context // done when the agent does not wait for the answer any more
	permission agent.Permission
	answer     chan<- bool
}

// permit is called on goroutines of the engine. It passes the request to the goroutine of the
// Coordinator.
func (t *turn) permit(ctx context.Context, p agent.Permission) bool {
	answer := make(chan bool, 1)
	select {
	case t.requests <- permissionRequest{ctx, p, answer}:
	case <-ctx.Done():
		return false
	}
	select {
	case allowed := <-answer:
		return allowed
	case <-ctx.Done():
		return false
	}
}

// decide answers a request and records the answer.
func (t *turn) decide(r permissionRequest) error {
	p, clean := &r.permission, t.c.secrets.Text
	p.Tool, p.Title, p.Input = clean(p.Tool), clean(p.Title), t.c.secrets.JSON(p.Input)
	allowed, by := t.decision(r)
	if r.ctx.Err() != nil {
		allowed, by = false, projection.ByDefault // too late
	}
	r.answer <- allowed
	return t.record(projection.PermissionAnswered{
		TurnID: t.id, ToolID: p.ToolID, Name: p.Tool, Title: p.Title, Allowed: allowed, By: by,
	})
}

// decision applies the member's permissions, or asks the user.
func (t *turn) decision(r permissionRequest) (allowed bool, by projection.Decider) {
	m, action := t.item.member, cmp.Or(r.permission.Title, r.permission.Tool)
	switch m.Permissions {
	case agent.Allow:
		return true, projection.ByPolicy
	case agent.Deny:
		t.c.notify(PermissionDenied{m, action})
		return false, projection.ByPolicy
	}
	answer := t.c.o.Listener.Ask(r.ctx, Question{m, r.permission})
	if answer == Unanswered {
		if r.ctx.Err() == nil {
			t.c.notify(PermissionUnanswered{m, action})
		}
		return false, projection.ByDefault
	}
	return answer == Allowed, projection.ByPerson
}
