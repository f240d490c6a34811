package conversation

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// A Conversation turns the events of a session, in order, into deltas. It reads no clock and opens no files. Its memory
// is bounded by the replies of the open turns. The zero Conversation is that of a session without events.
type Conversation struct {
	members []projection.Speaker // the team's, and then others in the order of their first message
	open    openTurns
	over    []string // ids of turns that ended, the newest last; only of a Continued one
	middle  bool     // events may belong to turns that began before
	spare   []byte   // memory for another Turn.unread
}

// The bounds of a Conversation.
const (
	maxMembers = 1000
	maxOver    = 1000
)

// Continued returns the Conversation of events in the middle of a session: an event of an unknown turn belongs to one
// that began before. members names the members.
func Continued(members []projection.Speaker) *Conversation {
	return &Conversation{members: slices.Clip(members), middle: true}
}

// Members returns those who can speak: the members of the team, and then others who have spoken.
func (c *Conversation) Members() []projection.Speaker { return slices.Clip(c.members) }

// Speaker returns the member with an id. An unknown id is the name of an agent.
func (c *Conversation) Speaker(id string) projection.Speaker {
	if i := slices.IndexFunc(c.members, func(m projection.Speaker) bool { return m.ID == id }); i >= 0 {
		return c.members[i]
	}
	return projection.Speaker{ID: id, Name: id, DisplayName: id, Type: projection.TypeAI}
}

// Open returns the turns that have no end, the oldest first.
func (c *Conversation) Open() []*Turn { return slices.Clone(c.open.turns) }

// Apply adds an event, which follows the one before. An event that could not be decoded adds nothing. The deltas do
// not refer to the Data of the event.
func (c *Conversation) Apply(e projection.Event) []Delta {
	at := Source{e.Seq, e.Time}
	switch p := e.Payload.(type) {
	case nil:
		return nil
	case projection.MessageAppended:
		return c.message(at, p)
	case projection.TurnStarted:
		return c.begin(at, p)
	case projection.TurnEnded:
		return c.end(at, p)
	case projection.TurnText:
		return c.text(at, p, e.Data)
	case projection.ToolStarted:
		if t := c.turn(at, p.TurnID); t != nil {
			return []Delta{Called{at, t, *t.start(e.Seq, p, e.Time)}}
		}
	case projection.ToolCompleted:
		if t := c.turn(at, p.TurnID); t != nil {
			return []Delta{Completed{at, t, t.complete(p, e.Time)}}
		}
	case projection.PermissionAnswered:
		if t := c.turn(at, p.TurnID); t != nil {
			t.answer(p, e.Time)
			return []Delta{Permitted{at, t, p}}
		}
	case projection.PermissionBypassed:
		if t := c.turn(at, p.TurnID); t != nil {
			if call := t.call(p.ToolID); call != nil {
				call.Bypass = &p
			}
			return []Delta{PermissionBypassed{at, t, p}}
		}
	case projection.PlanUpdated:
		if t := c.turn(at, p.TurnID); t != nil && !t.planned(p) {
			t.plan, t.stepped = &p, true
			return []Delta{Planned{at, t, p, t.length()}}
		}
	case projection.TurnSteered:
		if t := c.turn(at, p.TurnID); t != nil {
			return []Delta{Steered{at, t, p.MessageID}}
		}
	case projection.SessionCreated:
		for _, m := range p.Team.Members {
			c.AddMember(m.Speaker())
		}
		return []Delta{Changed{at, p}}
	case projection.MemberChanged:
		if p.Added != nil {
			c.AddMember(p.Added.Speaker())
		}
		return []Delta{Changed{at, p}}
	case projection.SessionResumed:
		c.open.resumed = e.Seq
		return []Delta{Changed{at, p}}
	default:
		return []Delta{Changed{at, p}}
	}
	return nil
}

// Stream adds text that an open turn streams. The events that record it later add no text.
func (c *Conversation) Stream(turnID, text string) []Delta {
	t := c.open.find(turnID)
	if t == nil || t.replied {
		return nil
	}
	t.streamed = true
	return c.grow(Source{}, t, text)
}

// Close ends the open turns, as unfinished ones: nothing follows the events.
func (c *Conversation) Close() []Delta {
	return c.abandon(Source{}, c.open.remove(func(*Turn) bool { return true }))
}

// AddMember adds a member whom the events so far do not name.
func (c *Conversation) AddMember(s projection.Speaker) {
	known := slices.ContainsFunc(c.members, func(m projection.Speaker) bool { return m.ID == s.ID })
	if !known && len(c.members) < maxMembers {
		c.members = append(c.members, s)
	}
}

// turn returns an open turn, or one that began before the first event; nil: none has the id.
func (c *Conversation) turn(at Source, id string) *Turn {
	t := c.open.find(id)
	if t == nil && c.middle && !slices.Contains(c.over, id) {
		t = &Turn{ID: id, Time: at.Time}
		c.open.turns = append(c.open.turns, t)
	}
	if t != nil {
		t.last = at
	}
	return t
}

func (c *Conversation) begin(at Source, p projection.TurnStarted) []Delta {
	deltas := c.abandon(at, c.open.endBefore(p))
	t := &Turn{
		ID: p.TurnID, Speaker: c.Speaker(p.MemberID), AgentType: p.AgentType, Model: p.Model, Panel: p.Panel,
		Began: at.Seq, Time: at.Time, last: at,
	}
	c.open.turns = append(c.open.turns, t)
	return append(deltas, Began{at, t})
}

// abandon ends turns that are not open any more, although the journal lacks their ends.
func (c *Conversation) abandon(at Source, turns []*Turn) (deltas []Delta) {
	for _, t := range turns {
		d := Ended{Source: at, Turn: t, Open: t.takeOpen()}
		if !t.replied {
			d.Rest, d.Partial = t.reply.hidden(), t.text()
			d.Common = int64(len(d.Partial))
		}
		deltas = append(deltas, d)
		c.forget(t)
	}
	return deltas
}

// forget remembers that a turn ended.
func (c *Conversation) forget(t *Turn) {
	if t.unread != nil {
		c.spare, t.unread = t.unread[:0], nil
	}
	if c.middle {
		c.over = append(c.over[max(0, len(c.over)-maxOver+1):], t.ID)
	}
}

func (c *Conversation) text(at Source, p projection.TurnText, data []byte) []Delta {
	t := c.turn(at, p.TurnID)
	switch {
	case t == nil || t.replied:
		return nil
	case p.Text == "": // an event of projection.Brief
		if t.unread == nil {
			t.unread, c.spare = c.spare, nil
		}
		t.recordLater(data)
		return nil
	}
	t.record(p.Text)
	if t.streamed {
		return nil
	}
	return c.grow(at, t, p.Text)
}

func (c *Conversation) grow(at Source, t *Turn, text string) []Delta {
	if text = t.reply.add(text); text == "" {
		return nil
	}
	return []Delta{Text{at, t, text}}
}

// message adds a message to the turn that it answers for, or else as one without a turn.
func (c *Conversation) message(at Source, p projection.MessageAppended) (deltas []Delta) {
	m := p.Message
	deltas = c.abandon(at, c.open.endBefore(p))
	c.AddMember(m.Speaker)
	if p.TurnID != "" {
		c.turn(at, p.TurnID) // it may have begun before the first event
	}
	t := c.open.answering(p)
	if t == nil {
		return append(deltas, Said{at, m, p.Attachments})
	}
	t.replied = true
	if t.Speaker.ID == "" {
		t.Speaker = m.Speaker
	}
	d := Replied{Source: at, Turn: t, Message: m, Rest: m.Content, Whole: true, Common: t.common(m.Content)}
	if rest, ok := t.reply.rest(m.Content); ok {
		d.Rest, d.Whole = rest, false
	}
	return append(deltas, d)
}

func (c *Conversation) end(at Source, p projection.TurnEnded) (deltas []Delta) {
	t := c.open.find(p.TurnID)
	if t == nil { // nothing of it was shown
		t = &Turn{ID: p.TurnID, Speaker: c.Speaker(p.MemberID), Time: at.Time}
		deltas = []Delta{Began{at, t}}
	}
	if t.Began == 0 && t.Speaker.ID != p.MemberID { // a message that it seemed to have was another turn's
		t.Speaker, t.replied = c.Speaker(p.MemberID), false
	}
	d := Ended{Source: at, Turn: t, End: &p, Open: t.takeOpen()}
	if !t.replied {
		rest, ok := t.reply.rest(strings.TrimRight(p.Partial, blanks))
		if !ok {
			rest = t.reply.hidden()
		}
		d.Rest, d.Common, d.Partial = rest, t.common(p.Partial), p.Partial
	}
	c.open.remove(func(open *Turn) bool { return open == t })
	c.forget(t)
	return append(deltas, d)
}
