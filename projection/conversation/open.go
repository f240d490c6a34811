package conversation

import (
	"slices"

	"github.com/agent-chatter/agent-chatter/projection"
)

// openTurns are the turns that have no end yet.
type openTurns struct {
	turns   []*Turn // the oldest first
	resumed uint64  // Seq of the newest session.resumed
}

// maxOpen bounds the number of open turns. Only crashes leave more than a few.
const maxOpen = 100

// find returns the turn with an id; nil: there is none.
func (o *openTurns) find(id string) *Turn {
	if i := slices.IndexFunc(o.turns, func(t *Turn) bool { return t.ID == id }); i >= 0 {
		return o.turns[i]
	}
	return nil
}

// answering returns the turn whose reply a message is: the one that it names. If it names none, as in journals of
// earlier versions of the program, it is the newest turn of its speaker, or of an unknown one, that has no message yet.
// nil: there is none.
func (o *openTurns) answering(p projection.MessageAppended) *Turn {
	by := p.Message.Speaker
	if by.Type == projection.TypeHuman {
		return nil
	}
	for _, t := range slices.Backward(o.turns) {
		named := t.ID == p.TurnID
		if p.TurnID == "" {
			named = t.Speaker.ID == by.ID || t.Speaker.ID == ""
		}
		if named && !t.replied {
			return t
		}
	}
	return nil
}

// remove removes and returns the turns for which match holds.
func (o *openTurns) remove(match func(*Turn) bool) (removed []*Turn) {
	var left []*Turn
	for _, t := range o.turns {
		if match(t) {
			removed = append(removed, t)
		} else {
			left = append(left, t)
		}
	}
	o.turns = left
	return removed
}

// endBefore removes and returns the turns that are over before the start of a turn, or before a message: nothing of
// them follows.
func (o *openTurns) endBefore(p projection.Payload) []*Turn {
	return o.remove(func(t *Turn) bool { return o.overBefore(t, p) })
}

// overBefore reports whether endBefore removes a turn.
func (o *openTurns) overBefore(t *Turn, p projection.Payload) bool {
	switch p := p.(type) {
	case projection.TurnStarted:
		return t.Speaker.ID == p.MemberID || t.Began < o.resumed || len(o.turns) >= maxOpen && t == o.turns[0]
	case projection.MessageAppended:
		return p.Message.Speaker.Type == projection.TypeHuman && (t.replied || t.Began < o.resumed)
	}
	return false
}

// none reports whether no turn is open when an event begins that may start a turn or be a message.
func (o *openTurns) none(e projection.Event) bool {
	return !slices.ContainsFunc(o.turns, func(t *Turn) bool { return !o.overBefore(t, e.Payload) })
}

// follow changes the open turns as an event does, without their replies.
func (o *openTurns) follow(e projection.Event) {
	switch p := e.Payload.(type) {
	case projection.SessionResumed:
		o.resumed = e.Seq
	case projection.TurnStarted:
		o.endBefore(p)
		o.turns = append(o.turns, &Turn{ID: p.TurnID, Speaker: projection.Speaker{ID: p.MemberID}, Began: e.Seq})
	case projection.MessageAppended:
		o.endBefore(p)
		if t := o.answering(p); t != nil {
			t.replied = true
		}
	case projection.TurnEnded:
		o.remove(func(t *Turn) bool { return t.ID == p.TurnID })
	}
}
