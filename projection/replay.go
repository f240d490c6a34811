package projection

import (
	"bytes"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Replay yields the conversation as people see it: its messages, and for each turn that
// ended without a message its partial reply, at the position of the end. A reply without
// text is yielded if its turn has steps. Turns that are still open after the last event
// come last. An error ends the sequence.
func Replay(events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return ReplayFrom(&State{}, events)
}

// ReplayFrom is Replay of the events after those of a state, which it does not change.
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
			r.foldText(&r.state.OpenTurns[i])
		}
		for _, entry := range r.state.openReplies() {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// replay folds the events into those parts of a State that the conversation needs. Its
// open turns have all steps since the state that it began with.
//
// It does not decode the turn.text events of a turn unless a tool call, a tool result or a
// plan follows them, they exceed maxTurnText, or the turn has no end: most turns end with
// a message or a TurnEnded that repeats the text. It reads the input and the output of
// tools only in payloads that toolStartedOf and toolCompletedOf decode completely.
type replay struct {
	state State
	spare []byte // memory for another OpenTurn.unread
}

// next folds an event and returns the entry that it shows, if any.
func (r *replay) next(e journal.Event) (Entry, bool) {
	r.state.Seq = e.Seq
	switch e.Type {
	case TurnText{}.eventType():
		r.addText(e)
	case ToolStarted{}.eventType():
		if p, ok := toolStartedOf(e); ok {
			r.addStep(e, p.TurnID, func(t *OpenTurn) { t.startTool(e.Seq, p) })
		}
	case ToolCompleted{}.eventType():
		if p, ok := toolCompletedOf(e); ok {
			r.addStep(e, p.TurnID, func(t *OpenTurn) { t.endTool(p) })
		}
	case PlanUpdated{}.eventType():
		if p, err := payloadAs[PlanUpdated](e, true); err == nil {
			r.addStep(e, p.TurnID, func(t *OpenTurn) { t.setPlan(e.Seq, p) })
		}
	case MessageAppended{}.eventType():
		if p, err := payloadAs[MessageAppended](e, true); err == nil {
			r.state.touch(e)
			return r.message(e, p), true
		}
	case TurnEnded{}.eventType():
		if p, err := turnEnded(e, true); err == nil {
			r.state.touch(e)
			return r.end(e, p)
		}
	default:
		if p, err := Decode(e); err == nil {
			r.state.apply(e, p)
		}
	}
	return Entry{}, false
}

// message returns the entry of a message.
func (r *replay) message(e journal.Event, p MessageAppended) Entry {
	m := p.Message
	r.state.count(m)
	entry := Entry{Seq: e.Seq, Message: m}
	if t := r.state.replied(p); t != nil {
		// The text up to the last step is folded.
		entry.Steps = within(t.Steps, t.Text, m.Content)
		r.dropText(t)
		t.Message, t.Text, t.TextBytes = e.Seq, "", 0
	}
	return entry
}

// end folds the end of a turn and returns the entry of its partial reply, if there is one.
func (r *replay) end(e journal.Event, p TurnEnded) (Entry, bool) {
	var steps []Step
	if t := r.state.turn(p.TurnID); t != nil && t.Message == 0 {
		steps = within(t.Steps, t.Text, p.Partial)
		r.dropText(t)
	}
	r.state.removeTurn(p.TurnID)
	if p.Partial == "" && len(steps) == 0 {
		return Entry{}, false
	}
	return r.state.partial(e, p, steps), true
}

// addStep adds a step to an open turn, or changes one, after the text that precedes it.
func (r *replay) addStep(e journal.Event, turnID string, add func(*OpenTurn)) {
	r.state.touch(e)
	if t := r.state.turn(turnID); t != nil {
		r.foldText(t)
		add(t)
	}
}

// addText keeps the data of a turn.text event of an open turn.
func (r *replay) addText(e journal.Event) {
	c := layout.At(e.Data)
	c.Expect(`{"turnId":`)
	id := c.String()
	c.Expect(`,"text":"`)
	if !c.OK() {
		p, err := payloadAs[TurnText](e, true)
		if err != nil {
			return
		}
		id = p.TurnID
	}
	r.state.touch(e)
	t := r.state.turn(id)
	if t == nil || t.Message > 0 {
		return
	}
	if t.unread == nil {
		t.unread, r.spare = r.spare, nil
	}
	t.unread = append(append(t.unread, e.Data...), '\n')
	if len(t.unread) > maxTurnText {
		r.foldText(t)
	}
}

// foldText folds the data that addText kept of a turn.
func (r *replay) foldText(t *OpenTurn) {
	for line := range bytes.Lines(t.unread) {
		text := journal.Event{Type: TurnText{}.eventType(), Data: bytes.TrimSuffix(line, []byte("\n"))}
		if p, err := payloadAs[TurnText](text, true); err == nil {
			t.addText(p.Text)
		}
	}
	r.dropText(t)
}

// dropText forgets the data that addText kept of a turn.
func (r *replay) dropText(t *OpenTurn) {
	if t.unread != nil {
		r.spare, t.unread = t.unread[:0], nil
	}
}

// Speaker returns the member with an id, as the team or an earlier message names it. An
// unknown id is the name of an AI speaker.
func (s *State) Speaker(memberID string) Speaker {
	for _, m := range s.Team.Members {
		if m.ID == memberID {
			return m.Speaker()
		}
	}
	for _, known := range s.Speakers {
		if known.ID == memberID {
			return known
		}
	}
	return Speaker{ID: memberID, Name: memberID, DisplayName: memberID, Type: TypeAI}
}
