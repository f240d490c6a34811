package coordinator

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// permissionRequest is a request for permission of a running agent.
type permissionRequest struct {
	ctx        context.Context // done when the agent does not wait for the answer any more
	permission agent.Permission
	answer     chan<- agent.Grant
}

// permit is called on goroutines of the engine. It passes the request to the goroutine of the
// Coordinator.
func (t *turn) permit(ctx context.Context, p agent.Permission) agent.Grant {
	answer := make(chan agent.Grant, 1)
	select {
	case t.requests <- permissionRequest{ctx, p, answer}:
	case <-ctx.Done():
		return agent.Refused
	}
	select {
	case grant := <-answer:
		return grant
	case <-ctx.Done():
		return agent.Refused
	}
}

// decide answers a request and records the answer.
func (t *turn) decide(r permissionRequest) error {
	same := requestHash(t.item.member.ID, r.permission)
	p, clean := &r.permission, t.c.secrets.Text
	p.Tool, p.Title, p.Input = clean(p.Tool), clean(p.Title), t.c.secrets.JSON(p.Input)
	for i, e := range p.Edits {
		p.Edits[i] = agent.FileEdit{Path: clean(e.Path), Old: clean(e.Old), New: clean(e.New)}
	}
	before := t.waited
	grant, by := t.decision(r, same)
	if r.ctx.Err() != nil {
		grant, by = agent.Refused, projection.ByDefault // too late
	}
	r.answer <- grant
	return t.record(projection.PermissionAnswered{
		TurnID: t.id, ToolID: p.ToolID, Name: p.Tool, Title: p.Title, Allowed: grant != agent.Refused, By: by,
		WaitedMS: (t.waited - before).Milliseconds(),
	})
}

// requestHash is equal for requests to do the same.
func requestHash(memberID string, p agent.Permission) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "%q %q", memberID, []any{p.Tool, p.Title, p.Input, p.Edits}))
}

// decision applies the member's permissions, or asks the user. A request that was allowed for the session has
// the hash same.
func (t *turn) decision(r permissionRequest, same [sha256.Size]byte) (grant agent.Grant, by projection.Decider) {
	m, action := t.item.member, cmp.Or(r.permission.Title, r.permission.Tool)
	switch m.Permissions {
	case agent.Allow:
		return agent.AllowedOnce, projection.ByPolicy
	case agent.Deny:
		t.c.notify(PermissionDenied{m, action})
		return agent.Refused, projection.ByPolicy
	}
	if t.c.allowed[same] {
		return agent.AllowedOnce, projection.ByPerson
	}
	asked := time.Now()
	answer := t.c.o.Listener.Ask(r.ctx, Question{t.id, m, r.permission})
	t.waited += time.Since(asked)
	switch answer {
	case Unanswered:
		if r.ctx.Err() == nil {
			t.c.notify(PermissionUnanswered{m, action})
		}
		return agent.Refused, projection.ByDefault
	case AllowedForSession:
		if r.ctx.Err() == nil && r.permission.Omitted == 0 { // otherwise different requests may look the same
			t.c.allowed[same] = true
		}
		return agent.AllowedOnce, projection.ByPerson
	case AllowedAlways:
		if r.permission.Always {
			return agent.AllowedAlways, projection.ByPerson
		}
		return agent.AllowedOnce, projection.ByPerson
	case Allowed:
		return agent.AllowedOnce, projection.ByPerson
	}
	return agent.Refused, projection.ByPerson
}
