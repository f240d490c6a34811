package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// TurnError says that an agent's turn did not end well. The session goes on.
type TurnError struct {
	Member Member
	Reason projection.FinishReason // Failed, Cancelled or TimedOut
	Err    error
}

func (e *TurnError) Error() string {
	return fmt.Sprintf("%s: %v", e.Member.DisplayName, e.Err)
}

func (e *TurnError) Unwrap() error { return e.Err }

// ErrEmptyMessage: there is nothing in the message.
var ErrEmptyMessage = errors.New("the message is empty")

// Say makes a text a message of the human who is next, asks the agents that it
// leads to, one after another, and returns when a human is next. Cancelling
// ctx cancels the running turn and empties the queue; a *TurnError then names
// who was speaking, or was to speak.
//
// Errors are a *TurnError for each turn that did not end well, joined, and
// those of messages that were refused: ErrEmptyMessage, journal.ErrTooLong.
// Failing to save is no error of Say: Events hears of it.
func (c *Coordinator) Say(ctx context.Context, text string) error {
	return c.SayAs(ctx, "", text)
}

// ErrNoSuchHuman: nobody of that name can say something.
var ErrNoSuchHuman = errors.New("there is no human of that name in the team")

// SayAs is Say for the human of that name, whoever is next. A name that is no
// human's is refused with ErrNoSuchHuman.
func (c *Coordinator) SayAs(ctx context.Context, name, text string) error {
	if m, ok := c.nameOf(name); name != "" && (!ok || m.Type != MemberHuman) {
		return fmt.Errorf("%q: %w", name, ErrNoSuchHuman)
	}
	if c.team == nil {
		return ErrNoTeam
	}
	if strings.TrimSpace(text) == "" {
		return ErrEmptyMessage
	}
	c.told = false
	m := ParseMarkers(c.secrets.Text(text))
	m.From = cmp.Or(name, m.From)
	said, err := c.appendHuman(m)
	c.sayReplaced()
	if err != nil {
		return err
	}
	if !c.routeHuman(m, said) {
		c.giveBack()
		return nil
	}
	return c.run(ctx)
}

func (c *Coordinator) nameOf(name string) (Member, bool) {
	if c.team == nil {
		return Member{}, false
	}
	return c.team.Match(name)
}

// appendHuman records a human's message, and what has to come before it.
func (c *Coordinator) appendHuman(m Markers) (projection.MessageAppended, error) {
	opening, err := c.opening()
	if err != nil {
		return projection.MessageAppended{}, err
	}
	human := c.human(m.From)
	said := projection.NewMessage(c.newID(), c.o.Now(), speaker(human), m.Content, c.routing(m))
	payloads := append(opening, said)
	if m.HasTask {
		payloads = append(payloads, taskSet(m.Task))
	}
	if err := c.conv.record(c.records(payloads...)...); err != nil {
		if c.conv.state.Seq == 0 {
			c.conv.log.Close(c.conv.state)
			c.conv = nil // nothing was said
		}
		return said, err
	}
	c.resumed = false
	c.o.Events.Said(said.Message)
	return said, nil
}

// human is who speaks: the one that the message names, else the one who is
// next, else the first.
func (c *Coordinator) human(from string) Member {
	if from != "" {
		m, ok := c.team.Match(from)
		if ok && m.Type == MemberHuman {
			return m
		}
		c.o.Events.Notice(Notice{Kind: UnknownNames, Names: []string{from}})
	}
	if m, ok := c.team.Member(c.waiting); ok {
		return m
	}
	m, _ := c.team.FirstHuman()
	return m
}

func speaker(m Member) projection.Speaker {
	return projection.Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type}
}

// routing says whom the markers of a message meant; nil when it has none.
func (c *Coordinator) routing(m Markers) *projection.Routing {
	if len(m.Next) == 0 {
		return nil
	}
	r := &projection.Routing{RawNextMarkers: m.RawNext, ResolvedAddressees: []projection.Addressee{}}
	for _, target := range m.Next {
		addressee := projection.Addressee{Identifier: target.Identifier}
		if member, ok := c.team.Match(target.Identifier); ok {
			addressee.MemberID, addressee.MemberName = &member.ID, &member.Name
		}
		r.ResolvedAddressees = append(r.ResolvedAddressees, addressee)
	}
	return r
}

// routeHuman puts whom a human addressed into the queue. A message that
// addresses nobody lets the queue go on, or goes to the first agent. It returns
// false when it is not known whom the human meant: the human is asked again.
func (c *Coordinator) routeHuman(m Markers, said projection.MessageAppended) bool {
	addressed := c.enqueue(m, said)
	if len(m.Next) > 0 {
		return addressed > 0
	}
	if first, ok := c.team.FirstAI(); ok && len(c.queue) == 0 {
		c.queue.push(item{first, triggerOf(said)})
	}
	return true
}

// enqueue obeys the markers of a message and returns how many members it
// addressed. Unknown names are said.
func (c *Coordinator) enqueue(m Markers, said projection.MessageAppended) (addressed int) {
	c.drop(m)
	var unknown []string
	for _, target := range m.Next {
		member, ok := c.team.Match(target.Identifier)
		if !ok {
			unknown = append(unknown, target.Identifier)
			continue
		}
		addressed++
		c.queue.push(item{member, triggerOf(said)})
	}
	if len(unknown) > 0 {
		c.o.Events.Notice(Notice{Kind: UnknownNames, Names: unknown})
	}
	return addressed
}

func (c *Coordinator) drop(m Markers) {
	if m.DropAll {
		c.queue = nil
	}
	for _, name := range m.Drop {
		if member, ok := c.team.Match(name); ok {
			c.queue.drop(member.ID)
		}
	}
}

func triggerOf(said projection.MessageAppended) trigger {
	return triggerFrom(said.Message)
}

// run asks the agents in the queue until a human is next.
func (c *Coordinator) run(ctx context.Context) error {
	var failures []error
	for len(c.queue) > 0 {
		next := c.queue.pop()
		if next.member.Type == MemberHuman {
			c.waiting = next.member.ID
			break
		}
		if c.limited() {
			break
		}
		err := cancelled(ctx, next.member)
		if err == nil {
			err = c.turn(ctx, next)
		}
		if err != nil {
			c.queue = nil
			failures = append(failures, err)
			break
		}
	}
	c.giveBack()
	return errors.Join(failures...)
}

// cancelled says that a member is not asked any more.
func cancelled(ctx context.Context, m Member) error {
	if ctx.Err() == nil {
		return nil
	}
	return &TurnError{Member: m, Reason: projection.Cancelled, Err: context.Cause(ctx)}
}

// giveBack gives control back, with everything saved.
func (c *Coordinator) giveBack() {
	c.waitForHuman()
	c.savePoint()
}

// limited reports whether agents have had their turns, and says so.
func (c *Coordinator) limited() bool {
	switch {
	case c.team.MaxRounds > 0 && c.conv.state.Stats.Rounds >= c.team.MaxRounds:
		c.o.Events.Notice(Notice{Kind: RoundLimit, Limit: c.team.MaxRounds})
	case c.o.MaxRounds > 0 && c.rounds >= c.o.MaxRounds:
		c.o.Events.Notice(Notice{Kind: RunLimit, Limit: c.o.MaxRounds})
	default:
		return false
	}
	c.queue = nil
	return true
}

// waitForHuman waits for the human whose turn it is, else for the first.
func (c *Coordinator) waitForHuman() {
	if c.waiting == "" {
		if first, ok := c.team.FirstHuman(); ok {
			c.waiting = first.ID
		}
	}
	c.setStatus(Paused)
}
