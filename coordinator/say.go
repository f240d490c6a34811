package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// TurnError says that an agent's turn did not end well. The session goes on.
type TurnError struct {
	Member team.Member
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

// WhoSpeaksError says that a message is anybody's: the team has several humans,
// none of them is waited for, and the message does not say whose it is.
type WhoSpeaksError struct {
	Humans []string // their names
}

func (e *WhoSpeaksError) Error() string {
	return "who speaks? The humans are " + strings.Join(e.Humans, ", ")
}

// ErrNoSuchHuman: nobody of that name can say something.
var ErrNoSuchHuman = errors.New("there is no human of that name in the team")

// SayAs is Say for the human of that name, whoever is next. A name that is no
// human's is refused with ErrNoSuchHuman; without a name, a message that nobody
// is waited for with a *WhoSpeaksError.
func (c *Coordinator) SayAs(ctx context.Context, name, text string) error {
	if m, ok := c.nameOf(name); name != "" && (!ok || m.Type != team.Human) {
		return fmt.Errorf("%q: %w", name, ErrNoSuchHuman)
	}
	if c.team == nil {
		return ErrNoTeam
	}
	if strings.TrimSpace(text) == "" {
		return ErrEmptyMessage
	}
	c.told = false
	m := c.markers(c.secrets.Text(text))
	human, err := c.human(cmp.Or(name, m.From))
	if err != nil {
		return err
	}
	said, err := c.appendHuman(human, m)
	c.sayReplaced()
	if err != nil {
		return err
	}
	if !c.routeHuman(m, said) {
		c.waiting = human.ID // whoever speaks out of turn, too
		c.giveBack()
		return nil
	}
	return c.run(ctx)
}

// markers takes a message apart. Taking markers out may put a secret together.
func (c *Coordinator) markers(text string) marker.Message {
	m := marker.Parse(text)
	m.Content = c.secrets.Text(m.Content)
	return m
}

func (c *Coordinator) nameOf(name string) (team.Member, bool) {
	if c.team == nil {
		return team.Member{}, false
	}
	return c.team.Match(name)
}

// appendHuman records a human's message, and what has to come before it.
func (c *Coordinator) appendHuman(human team.Member, m marker.Message) (projection.MessageAppended, error) {
	opening, err := c.opening()
	if err != nil {
		return projection.MessageAppended{}, err
	}
	said := projection.NewMessage(c.newID(), c.o.Now(), speaker(human), m.Content, c.routing(m))
	payloads := append(opening, said)
	if m.HasTask {
		payloads = append(payloads, c.taskSet(m.Task))
	}
	if err := c.conv.record(c.records(payloads...)...); err != nil {
		if c.conv.state.Seq == 0 {
			c.conv.log.Close(c.conv.state)
			c.conv = nil // nothing was said
		}
		return said, err
	}
	c.resumed, c.last, c.decided = false, said.Message.ID, nil
	c.o.Events.Said(said.Message)
	return said, nil
}

// human is who speaks: the one that the message names, else the one who is
// next, else the only one there is.
func (c *Coordinator) human(from string) (team.Member, error) {
	if from != "" {
		m, ok := c.team.Match(from)
		if ok && m.Type == team.Human {
			return m, nil
		}
		c.o.Events.Notice(Notice{Kind: UnknownNames, Names: []string{from}})
	}
	if m, ok := c.team.Member(c.waiting); ok {
		return m, nil
	}
	if humans := c.team.Humans(); len(humans) > 1 {
		return team.Member{}, &WhoSpeaksError{humans}
	}
	m, _ := c.team.FirstHuman()
	return m, nil
}

func speaker(m team.Member) projection.Speaker {
	return projection.Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type}
}

// routing says whom the markers of a message meant; nil when it has none.
func (c *Coordinator) routing(m marker.Message) *projection.Routing {
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
// false when it is not known whom the human meant, or nothing was said to anybody:
// the human is next.
func (c *Coordinator) routeHuman(m marker.Message, said projection.MessageAppended) bool {
	trigger := triggerFrom(said.Message)
	addressed := c.enqueue(m, trigger)
	if len(m.Next) > 0 {
		return addressed > 0
	}
	if c.queue.empty() && strings.TrimSpace(m.Content) == "" {
		return false // it was there to clear the queue: it asks nothing
	}
	if first, ok := c.team.FirstAI(); ok && c.queue.empty() {
		c.queue.add(item{member: first, trigger: trigger, intent: marker.Reply, since: c.o.Now()})
	}
	return true
}

// enqueue obeys the markers of a message and returns how many members it
// addressed. Unknown names are said.
func (c *Coordinator) enqueue(m marker.Message, t trigger) (addressed int) {
	unknown := c.drop(m)
	var changes []projection.QueueChange
	for _, target := range m.Next {
		member, ok := c.team.Match(target.Identifier)
		if !ok {
			unknown = append(unknown, target.Identifier)
			continue
		}
		addressed++
		if change := c.queue.add(item{member: member, trigger: t, intent: target.Intent, since: c.o.Now()}); change != nil {
			changes = append(changes, *change)
		}
	}
	if len(unknown) > 0 {
		c.o.Events.Notice(Notice{Kind: UnknownNames, Names: unknown})
	}
	c.decide(changes...)
	c.sayBounds(changes)
	return addressed
}

// sayBounds says who did not get what was asked for because so many wait.
func (c *Coordinator) sayBounds(changes []projection.QueueChange) {
	for _, bound := range []struct {
		action projection.QueueAction
		kind   NoticeKind
		limit  int
	}{{projection.QueueSkipped, QueueFull, mostWaiting}, {projection.QueueDemoted, QueueDemoted, mostOfOne}} {
		hit := slices.DeleteFunc(slices.Clone(changes), func(change projection.QueueChange) bool { return change.Action != bound.action })
		if len(hit) > 0 {
			c.o.Events.Notice(Notice{Kind: bound.kind, Names: c.displayed(hit), Limit: bound.limit})
		}
	}
}

// drop obeys the DROP markers of a message and returns the names that are no
// member's.
func (c *Coordinator) drop(m marker.Message) (unknown []string) {
	const reason = "a message dropped it"
	if m.DropAll {
		c.decide(c.queue.drop(everybody, reason)...)
	}
	for _, name := range m.Drop {
		member, ok := c.team.Match(name)
		if !ok {
			unknown = append(unknown, name)
			continue
		}
		c.decide(c.queue.drop(func(w item) bool { return w.member.ID == member.ID }, reason)...)
	}
	return unknown
}

// run asks the agents in the queue until a human is next.
func (c *Coordinator) run(ctx context.Context) error {
	for !c.queue.empty() {
		if c.limited() {
			break
		}
		next, preferred := c.queue.take(c.last)
		c.decideIf(preferred)
		if next.member.Type == team.Human {
			c.waiting = next.member.ID
			break
		}
		more, err := c.ask(ctx, next)
		if err != nil {
			c.empty(fmt.Sprintf("the turn of %s did not end well", next.member.DisplayName))
			c.giveBack()
			return err
		}
		if !more {
			break
		}
	}
	c.giveBack()
	return nil
}

// ask asks one agent, unless nobody is to be asked any more. It reports whether
// the queue goes on.
func (c *Coordinator) ask(ctx context.Context, next item) (more bool, err error) {
	if err := cancelled(ctx, next.member); err != nil {
		return false, err
	}
	c.sayRound(next.member)
	return c.turn(ctx, next)
}

// cancelled says that a member is not asked any more.
func cancelled(ctx context.Context, m team.Member) error {
	if ctx.Err() == nil {
		return nil
	}
	return &TurnError{Member: m, Reason: projection.Cancelled, Err: context.Cause(ctx)}
}

// giveBack gives control back, with everything saved.
func (c *Coordinator) giveBack() {
	c.recordDecisions()
	c.waitForHuman()
	c.savePoint()
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
