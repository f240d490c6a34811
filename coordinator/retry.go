package coordinator

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// ErrNothingToRetry is the error of Retry if the last turn finished, or there was none.
var ErrNothingToRetry = errors.New("no turn to retry")

// Retry reruns the last turn if it failed, was canceled, or was interrupted by the end of the
// program. It returns when a human is next, as Say does.
func (c *Coordinator) Retry(ctx context.Context) error {
	if c.conv == nil {
		return ErrNothingToRetry
	}
	c.reported = false
	memberID, messageID := unfinishedTurn(c.conv.state)
	member, ok := c.team.Member(memberID)
	if !ok || messageID == "" {
		return ErrNothingToRetry
	}
	m := c.message(messageID)
	if m == nil {
		return ErrNothingToRetry
	}
	opening, err := c.openingEvents()
	if err != nil {
		return err
	}
	if len(opening) > 0 {
		if err := c.conv.record(c.records(opening...)...); err != nil {
			return err
		}
	}
	c.resumed = false
	t := newTrigger(*m)
	if m.Speaker.Type == projection.TypeAI {
		t.repliesTo = c.triggerOf(m.ID)
	}
	c.clearQueue("the last turn is rerun")
	c.queue = queue{items: []item{{member: member, trigger: t, intent: marker.Reply}}}
	return c.runQueue(ctx)
}

// unfinishedTurn returns the member of the last turn and the message that triggered it, if the turn
// has no reply.
func unfinishedTurn(s *projection.State) (memberID, messageID string) {
	if n := len(s.OpenTurns); n > 0 {
		if last := s.OpenTurns[n-1]; last.Message == 0 {
			return last.MemberID, last.TriggerMessageID
		}
		return "", ""
	}
	if s.LastTurn != nil && s.LastTurn.FinishReason != projection.Done {
		return s.LastTurn.MemberID, s.LastTrigger
	}
	return "", ""
}

// triggerOf returns the ID of the message that triggered the turn of an agent's message.
func (c *Coordinator) triggerOf(messageID string) string {
	found := false
	for e, err := range c.conv.log.Backward() {
		if err != nil {
			return ""
		}
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.MessageAppended:
			found = found || p.Message.ID == messageID
		case projection.TurnStarted:
			if found {
				return p.TriggerMessageID
			}
		}
	}
	return ""
}
