package projection

import (
	"bytes"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Replay yields the conversation as people see it: its messages, and the partial
// replies of unfinished turns where the turns ended. Turns that are still open after
// the last event come last. An error ends the sequence.
func Replay(events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return ReplayFrom(&State{}, events)
}

// ReplayFrom is Replay of the events after those of a state, which it does not change.
func ReplayFrom(state *State, events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := replay{state: *state.Clone(), texts: map[string][]byte{}}
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
			r.foldText(r.state.OpenTurns[i].TurnID)
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

// replay folds the events into those parts of a State that the conversation needs.
//
// It does not decode the turn.text events of a turn unless the turn has no end: most
// turns end with a message or a TurnEnded that repeats the text.
type replay struct {
	state State
	texts map[string][]byte // data of the turn.text events of open turns, a line each, by turn
	spare []byte            // memory for another of texts
}

// next folds an event and returns the entry that it shows, if any.
func (r *replay) next(e journal.Event) (Entry, bool) {
	r.state.Seq = e.Seq
	switch e.Type {
	case ToolStarted{}.eventType(), ToolCompleted{}.eventType(), PlanUpdated{}.eventType():
		r.state.touch(e)
		return Entry{}, false
	case TurnText{}.eventType():
		r.state.touch(e)
		r.addText(turnOf(e), e.Data)
		return Entry{}, false
	}
	p, err := Decode(e)
	if err != nil {
		return Entry{}, false
	}
	switch p := p.(type) {
	case TurnStarted:
		if len(r.state.OpenTurns) == maxOpenTurns {
			// The state drops the oldest turn with its text. A later turn may have
			// the same id.
			r.dropText(r.state.OpenTurns[0].TurnID)
		}
	case MessageAppended:
		r.state.count(p.Message)
		r.state.touch(e)
		return Entry{Seq: e.Seq, Message: p.Message}, true
	case TurnEnded:
		r.dropText(p.TurnID)
		r.state.apply(e, p)
		entry := r.partial(e.Seq, p.TurnID, p.MemberID, p.Partial, e.Time)
		entry.ContentBytes = p.PartialBytes
		return entry, p.Partial != ""
	}
	r.state.apply(e, p)
	return Entry{}, false
}

// turnOf returns the id of the turn of a turn.text event, if possible without
// decoding the text.
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

// addText keeps the data of a turn.text event of an open turn.
func (r *replay) addText(turnID string, data []byte) {
	if r.state.turn(turnID) == nil {
		return
	}
	lines, ok := r.texts[turnID]
	if !ok {
		lines, r.spare = r.spare[:0], nil
	}
	r.texts[turnID] = append(append(lines, data...), '\n')
	if len(r.texts[turnID]) > maxTurnText {
		r.foldText(turnID)
	}
}

// dropText forgets the data that addText kept of a turn.
func (r *replay) dropText(turnID string) {
	if lines, ok := r.texts[turnID]; ok {
		delete(r.texts, turnID)
		r.spare = lines
	}
}

// foldText folds the data that addText kept of a turn.
func (r *replay) foldText(turnID string) {
	for line := range bytes.Lines(r.texts[turnID]) {
		text := journal.Event{Type: TurnText{}.eventType(), Data: bytes.TrimSuffix(line, []byte("\n"))}
		if p, err := Decode(text); err == nil {
			r.state.addText(p.(TurnText))
		}
	}
	r.dropText(turnID)
}

func (r *replay) partial(seq uint64, turnID, memberID, text string, at time.Time) Entry {
	return Entry{Seq: seq, Partial: true, Message: Message{
		ID: turnID, Timestamp: FormatTime(at), Speaker: r.state.Speaker(memberID), Content: text,
	}}
}

// Speaker returns the member with an id, as the team or an earlier message names it.
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
