package projection

import (
	"bytes"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Replay yields the conversation as people see it: its messages, and in their
// places the partial replies of turns that did not finish. A turn that is still
// open when the events end comes last. An error ends it.
func Replay(events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return ReplayFrom(&State{}, events)
}

// ReplayFrom is Replay of the events behind those of a state, which stays as it
// is.
func ReplayFrom(state *State, events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := replay{state: *state.Clone()}
		for e, err := range events {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if entry, ok := r.next(e); ok && !yield(entry, nil) {
				return
			}
		}
		for i := range r.state.OpenTurns {
			r.understand(r.state.OpenTurns[i].TurnID)
		}
		for _, t := range r.state.OpenTurns {
			entry := r.partial(r.state.Seq, t.TurnID, t.MemberID, t.Text, r.state.Row.UpdatedAt)
			if t.TextBytes > int64(len(t.Text)) {
				entry.ContentBytes = t.TextBytes
			}
			if t.Text != "" && !yield(entry, nil) {
				return
			}
		}
	}
}

// replay folds the events into as much of a State as the conversation needs.
type replay struct {
	state State
	said  map[string][]byte // what was said in open turns, as the lines of their events, by the turn
	spare []byte            // what one of them was
}

// next folds an event and returns what is seen of it.
func (r *replay) next(e journal.Event) (Entry, bool) {
	r.state.Seq = e.Seq
	switch e.Type {
	case ToolStarted{}.eventType(), ToolCompleted{}.eventType(): // nobody sees them
		r.state.touch(e)
		return Entry{}, false
	case TurnText{}.eventType():
		r.state.touch(e)
		r.keep(turnOf(e), e.Data)
		return Entry{}, false
	}
	p, err := Decode(e)
	if err != nil {
		return Entry{}, false
	}
	switch p := p.(type) {
	case TurnStarted:
		if len(r.state.OpenTurns) == openTurns { // The oldest is dropped, with its text.
			r.forget(r.state.OpenTurns[0].TurnID)
		}
	case MessageAppended:
		r.state.count(p.Message)
		r.state.touch(e)
		return Entry{Seq: e.Seq, Message: p.Message}, true
	case TurnEnded:
		r.forget(p.TurnID)
		r.state.apply(e, p)
		entry := r.partial(e.Seq, p.TurnID, p.MemberID, p.Partial, e.Time)
		entry.ContentBytes = p.PartialBytes
		return entry, p.Partial != ""
	}
	r.state.apply(e, p)
	return Entry{}, false
}

// turnOf is the turn in which something was said, without what was said.
func turnOf(e journal.Event) string {
	c := layout.At(e.Data)
	c.Expect(`{"turnId":`)
	id := c.String()
	if c.OK() {
		return id
	}
	p, err := Decode(e)
	if err != nil {
		return ""
	}
	return p.(TurnText).TurnID
}

// keep remembers what is said in a turn as it stands in the journal. Nearly
// every turn ends, and then a message or its end says it again.
func (r *replay) keep(turnID string, said []byte) {
	if r.state.turn(turnID) == nil {
		return
	}
	lines, begun := r.said[turnID]
	if !begun {
		lines, r.spare = r.spare[:0], nil
	}
	if r.said == nil {
		r.said = map[string][]byte{}
	}
	r.said[turnID] = append(append(lines, said...), '\n')
	if len(r.said[turnID]) > partialBytes {
		r.understand(turnID)
	}
}

// forget drops what was said in a turn.
func (r *replay) forget(turnID string) {
	if lines, begun := r.said[turnID]; begun {
		delete(r.said, turnID)
		r.spare = lines
	}
}

// understand folds what was said in a turn so far.
func (r *replay) understand(turnID string) {
	for line := range bytes.Lines(r.said[turnID]) {
		said := journal.Event{Type: TurnText{}.eventType(), Data: bytes.TrimSuffix(line, []byte("\n"))}
		if p, err := Decode(said); err == nil {
			r.state.addText(p.(TurnText))
		}
	}
	r.forget(turnID)
}

func (r *replay) partial(seq uint64, turnID, memberID, text string, at time.Time) Entry {
	return Entry{Seq: seq, Partial: true, Message: Message{
		ID: turnID, Timestamp: FormatTime(at), Speaker: r.state.Speaker(memberID), Content: text,
	}}
}

// Speaker is the member of that id as the session knows it.
func (s *State) Speaker(memberID string) Speaker {
	for _, m := range s.Team.Members {
		if m.ID == memberID {
			return Speaker{ID: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type}
		}
	}
	for _, known := range s.Speakers {
		if known.ID == memberID {
			return known
		}
	}
	return Speaker{ID: memberID, Name: memberID, DisplayName: memberID, Type: TypeAI}
}
