package projection

import (
	"bytes"
	"iter"
	"slices"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/layout"
)

// Replay yields the conversation as people see it: its messages, and the partial
// replies of unfinished turns where the turns ended. One without any text is yielded if
// the turn has steps. Turns that are still open after
// the last event come last. An error ends the sequence.
func Replay(events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return ReplayFrom(&State{}, events)
}

// ReplayFrom is Replay of the events after those of a state, which it does not change.
func ReplayFrom(state *State, events iter.Seq2[journal.Event, error]) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		r := replay{state: *state.Clone(), texts: map[string][]byte{}, steps: map[string][]Step{}}
		for _, t := range slices.Backward(r.state.OpenTurns) { // the first of those with the same id has them
			r.steps[t.TurnID] = slices.Clone(t.Steps)
		}
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
			t := &r.state.OpenTurns[i]
			r.foldText(t.TurnID)
			t.Steps = nil
			if t == r.state.turn(t.TurnID) { // not another turn with the same id
				t.Steps = r.steps[t.TurnID]
			}
		}
		for _, entry := range r.state.openReplies() {
			if !yield(entry, nil) {
				return
			}
		}
	}
}

// replay folds the events into those parts of a State that the conversation needs.
//
// It does not decode the turn.text events of a turn unless a tool call or a plan follows
// them, or the turn has no end: most turns end with a message or a TurnEnded that repeats
// the text.
type replay struct {
	state State
	texts map[string][]byte // data of the turn.text events of open turns, a line each, by turn
	spare []byte            // memory for another of texts
	steps map[string][]Step // all of each open turn
}

// next folds an event and returns the entry that it shows, if any.
func (r *replay) next(e journal.Event) (Entry, bool) {
	r.state.Seq = e.Seq
	if e.Type == (TurnText{}).eventType() {
		r.state.touch(e)
		r.addText(turnOf(e), e.Data)
		return Entry{}, false
	}
	p, err := decodeStep(e)
	if err != nil {
		return Entry{}, false
	}
	switch p := p.(type) {
	case TurnStarted:
		if len(r.state.OpenTurns) == maxOpenTurns {
			// The state drops the oldest turn with its text. A later turn may have
			// the same id.
			r.drop(r.state.OpenTurns[0].TurnID)
		}
		r.state.apply(e, p)
	case ToolStarted:
		r.addStep(p.TurnID, e.Seq, p)
	case ToolCompleted:
		r.addStep(p.TurnID, e.Seq, p)
	case PlanUpdated:
		r.addStep(p.TurnID, e.Seq, p)
	case MessageAppended:
		r.state.touch(e)
		return r.message(e, p.Message), true
	case TurnEnded:
		entry := r.end(e, p)
		return entry, entry.Content != "" || len(entry.Steps) > 0
	default:
		r.state.apply(e, p)
		return Entry{}, false
	}
	r.state.touch(e)
	return Entry{}, false
}

// message returns the entry of a message.
func (r *replay) message(e journal.Event, m Message) Entry {
	r.state.count(m)
	entry := Entry{Seq: e.Seq, Message: m}
	if t := r.state.replied(m.Speaker.ID); t != nil {
		if t == r.state.turn(t.TurnID) { // not another turn with the same id
			// The text up to the last step is folded.
			entry.Steps = within(r.steps[t.TurnID], t.Text, m.Content)
			r.dropText(t.TurnID)
		}
		t.Message, t.Text, t.TextBytes = e.Seq, "", 0
	}
	return entry
}

// end folds the end of a turn and returns the entry of its partial reply.
func (r *replay) end(e journal.Event, p TurnEnded) Entry {
	var steps []Step
	if t := r.state.turn(p.TurnID); t != nil && t.Message == 0 {
		steps = within(r.steps[p.TurnID], t.Text, p.Partial)
	}
	r.drop(p.TurnID)
	entry := r.state.partial(e, p, steps)
	p.Partial = "" // The state needs no copy.
	r.state.apply(e, p)
	return entry
}

// addStep adds a tool call or a plan to an open turn, or ends a tool call.
func (r *replay) addStep(turnID string, seq uint64, p Payload) {
	if t := r.state.turn(turnID); t != nil {
		r.foldText(turnID)
		r.steps[turnID] = addStep(r.steps[turnID], seq, t.TextBytes, p)
	}
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
	if t := r.state.turn(turnID); t == nil || t.Message > 0 {
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

// drop forgets the text and the steps of a turn.
func (r *replay) drop(turnID string) {
	r.dropText(turnID)
	delete(r.steps, turnID)
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
