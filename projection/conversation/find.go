package conversation

import (
	"context"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Alone returns what an event adds by itself, whatever precedes it; nil: nothing. Text is as it was recorded, a message
// has no turn, and of a turn and its speaker only the ids are known.
func Alone(e projection.Event) Delta {
	switch p := e.Payload.(type) {
	case projection.TurnText:
		return Text{Source{e.Seq, e.Time}, &Turn{ID: p.TurnID}, p.Text}
	case projection.MessageAppended:
		return Said{Source{e.Seq, e.Time}, p.Message, p.Attachments}
	}
	var last Delta // the end of a turn follows its start
	for _, d := range Continued(nil).Apply(e) {
		last = d
	}
	return last
}

// FirstMembers returns the members that the first event of a journal names.
func FirstMembers(r *journal.Reader) []projection.Speaker {
	var c Conversation
	for e, err := range r.All() {
		if err == nil {
			c.Apply(projection.DecodeEvent(e))
		}
		break
	}
	return c.Members()
}

// FindTurn returns the turn with an id that began before an event, without what it said. It reads back over at most
// maxSearch events. nil: it is not found.
func FindTurn(ctx context.Context, r *journal.Reader, id string, before uint64) *Turn {
	at, err := r.Find(before)
	if err != nil {
		return nil
	}
	for e, err := range Until(ctx, r.Before(at)) {
		if err != nil || before-e.Seq > maxSearch {
			break
		}
		if e.Type != typeTurnStarted {
			continue
		}
		if d, ok := Alone(projection.DecodeEvent(e)).(Began); ok && d.Turn.ID == id {
			d.Turn.Speaker = Continued(FirstMembers(r)).Speaker(d.Turn.Speaker.ID)
			return d.Turn
		}
	}
	return nil
}

var typeTurnStarted = projection.TypeOf(projection.TurnStarted{})
