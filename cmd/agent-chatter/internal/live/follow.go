package live

import (
	"context"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// maxSent is how many inputs front ends learn of that were sent.
const maxSent = 100

// shownQueued is how much of a queued line front ends show, in bytes. They get it with each change.
const shownQueued = 2 << 10

// ShowNext shows who is next: with person, the people who can type the next message.
func (c *Conversation) ShowNext(co *coordinator.Coordinator, person bool) {
	var people []string
	for _, m := range co.Team().Members {
		if waiting := co.Status().Waiting; person && m.Type == team.Human && (waiting == "" || waiting == m.ID) {
			people = append(people, m.DisplayName)
		}
	}
	next := queuedNames(co)
	c.Set(func(s *State) { s.Waiting, s.Next = people, next })
}

// queuedNames returns the names of the members that are queued.
func queuedNames(co *coordinator.Coordinator) (names []string) {
	for _, q := range co.Queued() {
		names = append(names, q.Member.DisplayName)
	}
	return names
}

// Follow shows what an event changes that was recorded.
func (c *Conversation) Follow(co *coordinator.Coordinator, e coordinator.Event) {
	c.mu.Lock()
	c.seq = e.Seq
	if p, ok := e.Payload.(projection.TurnEnded); ok {
		delete(c.replies, p.TurnID) // the journal has it
	}
	c.mu.Unlock()
	next := queuedNames(co)
	c.Set(func(s *State) {
		s.Next = next
		switch p := e.Payload.(type) {
		case projection.TurnStarted:
			member, _ := co.Team().Member(p.MemberID)
			s.Speaking = append(s.Speaking, Speaking{
				Turn: p.TurnID, Member: p.MemberID, Name: member.DisplayName, Since: e.Time,
			})
		case projection.InputReceived:
			if p.InputID != "" {
				s.Sent = append(s.Sent, p.InputID)
				s.Sent = s.Sent[max(0, len(s.Sent)-maxSent):]
			}
		case projection.TurnEnded:
			s.Speaking = slices.DeleteFunc(s.Speaking, func(t Speaking) bool { return t.Turn == p.TurnID })
		}
	})
}

// ShowQueue shows the lines that are queued. What lines returns is never shown after what it returned later, also if
// several goroutines call ShowQueue. It must not call the conversation.
func (c *Conversation) ShowQueue(lines func() []tty.Line) {
	c.Set(func(s *State) {
		s.Queue = queuedOf(lines())
		for i, q := range s.Queue {
			if len(q.Text) > shownQueued {
				s.Queue[i].Text = runecut.Prefix(q.Text, shownQueued) + "…"
			}
		}
	})
}

func queuedOf(lines []tty.Line) (queued []Queued) {
	for _, l := range lines {
		queued = append(queued, Queued{ID: l.ID, Text: l.Text, From: l.Device})
	}
	return queued
}

// AskAlso asks a question of a member in the front ends while here asks it in another way. The first answer counts. The
// context that here gets is done when a front end has answered; other is that answer, and nil if here has answered.
func (c *Conversation) AskAlso(
	ctx context.Context, q coordinator.Question, here func(context.Context) coordinator.Answer,
) (answer coordinator.Answer, other *Answer) {
	asking, stop := context.WithCancel(ctx)
	defer stop()
	open := c.Ask(q)
	go func() {
		if _, ok := open.Wait(asking); ok {
			stop()
		}
	}()
	answer = here(asking)
	if given, ok := open.Close(); ok {
		given.Answer.Device = given.By
		return given.Answer, &given
	}
	return answer, nil
}
