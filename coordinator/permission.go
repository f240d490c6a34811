package coordinator

import (
	"cmp"
	"context"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/projection"
)

// asked is what an agent asks leave for, in the middle of its turn.
type asked struct {
	ctx    context.Context // done when the turn does not wait for the answer any more
	leave  agent.Permission
	answer chan<- bool
}

// permit is called on the engine's goroutines. The conversation's own decides.
func (t *turn) permit(ctx context.Context, leave agent.Permission) bool {
	answer := make(chan bool, 1)
	select {
	case t.asked <- asked{ctx, leave, answer}:
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

// decide answers as the member's permissions say, and asks the person in front of the chat
// where they say nothing.
func (t *turn) decide(a asked) error {
	clean := t.c.secrets.Text
	a.leave.Tool, a.leave.Title, a.leave.Input = clean(a.leave.Tool), clean(a.leave.Title), t.c.secrets.JSON(a.leave.Input)
	allowed, by := t.decision(a)
	if a.ctx.Err() != nil {
		allowed, by = false, projection.ByDefault // the answer came too late to be heard
	}
	a.answer <- allowed
	return t.record(projection.PermissionAnswered{
		TurnID: t.id, ToolID: a.leave.ToolID, Name: a.leave.Tool, Title: boundedTitle(a.leave.Title), Allowed: allowed, By: by,
	})
}

func (t *turn) decision(a asked) (allowed bool, by projection.Decider) {
	switch member := t.item.member; {
	case member.Permissions == agent.Allow:
		return true, projection.ByPolicy
	case member.Permissions == agent.Deny:
		t.refused(NotPermitted, a.leave)
		return false, projection.ByPolicy
	case t.c.o.Ask == nil:
		t.refused(NobodyToAsk, a.leave)
		return false, projection.ByDefault
	default:
		return t.c.o.Ask(a.ctx, member, a.leave), projection.ByPerson
	}
}

// refused says that nobody was asked.
func (t *turn) refused(why NoticeKind, leave agent.Permission) {
	t.c.o.Events.Notice(Notice{Kind: why, Names: []string{t.item.member.DisplayName, cmp.Or(leave.Title, leave.Tool)}})
}

// titleBytes is how much of what an agent calls its doing is recorded.
const titleBytes = 4 << 10

func boundedTitle(title string) string {
	return strings.ToValidUTF8(title[:min(len(title), titleBytes)], "\uFFFD")
}
