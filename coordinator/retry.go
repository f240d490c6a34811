package coordinator

import (
	"context"
	"errors"
	"slices"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// ErrNothingToRetry is the error of Retry if the last turns finished, or there were none.
var ErrNothingToRetry = errors.New("no turn to retry")

// Retry reruns the last turns that failed, were canceled, or were interrupted by the end of the program: several
// if they were open at the same time, and those of a panel at the same time again. It returns when a human is next, as
// Say does.
func (c *Coordinator) Retry(ctx context.Context) error {
	if c.conv == nil {
		return ErrNothingToRetry
	}
	c.reported = false
	reruns := c.reruns()
	if len(reruns) == 0 {
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
	c.clearQueue("the last turn is rerun")
	c.queue = queue{items: reruns}
	return c.runQueue(ctx)
}

// reruns returns the queue of a Retry.
func (c *Coordinator) reruns() []item {
	var items []item
	for i, turn := range c.conv.state.WithoutReply() {
		member, ok := c.team.Member(turn.MemberID)
		if !ok || turn.TriggerMessageID == "" {
			continue
		}
		m := c.message(turn.TriggerMessageID)
		if m == nil {
			continue
		}
		t := newTrigger(*m)
		if m.Speaker.Type == projection.TypeAI {
			t.repliesTo = c.triggerOf(m.ID)
		}
		again := item{member: member, trigger: t, intent: marker.Reply}
		if turn.Panel != "" && isIsolated(c.o.Engines, member) { // its settings may have changed
			again.panel, again.place = turn.Panel, i+1
			if !c.saidSince(turn.Seen) { // it sees none of the others' replies, as in the panel
				again.seen, again.sum = turn.Seen, turn.Sum
			}
		}
		items = append(items, again)
	}
	return items
}

// saidSince reports whether a person has said something after a seq.
func (c *Coordinator) saidSince(seq uint64) bool {
	return slices.ContainsFunc(c.conv.state.Recent, func(e projection.Entry) bool {
		return e.Seq > seq && e.Speaker.Type == projection.TypeHuman
	})
}

// triggerOf returns the ID of the message that triggered the turn of an agent's message.
func (c *Coordinator) triggerOf(messageID string) string {
	var said *projection.MessageAppended
	for e, err := range c.conv.log.Backward() {
		if err != nil {
			return ""
		}
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.MessageAppended:
			if p.Message.ID == messageID {
				said = &p
			}
		case projection.TurnStarted:
			// Earlier versions of the program did not record the turn of a message.
			is := said != nil && (p.TurnID == said.TurnID || said.TurnID == "" && p.MemberID == said.Message.Speaker.ID)
			if is {
				return p.TriggerMessageID
			}
		}
	}
	return ""
}
