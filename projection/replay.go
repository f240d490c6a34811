package projection

import (
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
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
		r := replay{*state.Clone()}
		for e, err := range events {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if entry, ok := r.next(e); ok && !yield(entry, nil) {
				return
			}
		}
		for _, t := range r.state.OpenTurns {
			if t.Text != "" && !yield(r.partial(r.state.Seq, t.TurnID, t.MemberID, t.Text, r.state.Row.UpdatedAt), nil) {
				return
			}
		}
	}
}

type replay struct{ state State }

// next folds an event and returns what is seen of it.
func (r *replay) next(e journal.Event) (Entry, bool) {
	p, err := decodeForFold(e)
	r.state.applyDecoded(e, p, err)
	if err != nil {
		return Entry{}, false
	}
	switch p := p.(type) {
	case MessageAppended:
		return Entry{Seq: e.Seq, Message: p.Message}, true
	case TurnEnded:
		return r.partial(e.Seq, p.TurnID, p.MemberID, p.Partial, e.Time), p.Partial != ""
	}
	return Entry{}, false
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
