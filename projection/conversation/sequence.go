package conversation

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

// A Sequence orders deltas for a surface that shows one thing after the other: the deltas of a turn that began while
// another one was open, and messages without a turn, follow the end of that one; messages that its agent takes precede
// what it does then. Changes of the session are not delayed. The zero Sequence is ready to use.
type Sequence struct {
	// Panels makes those of a turn that was started with others follow when it has ended, in the order of ending.
	Panels bool

	turn  *Turn      // whose deltas are not delayed; nil: all are
	held  []*delayed // in order
	ended []*Turn    // of panels, with deltas in held
}

// A delayed delta. The text of deltas of the same turn is joined, where nothing else of the turn is between.
type delayed struct {
	Delta
	text strings.Builder
}

// Next adds deltas and returns those that are due.
func (s *Sequence) Next(deltas []Delta) []Delta {
	if s.turn == nil && len(s.held) == 0 && len(deltas) == 1 && s.due(deltas[0]) {
		s.follow(deltas[0])
		return deltas
	}
	var due []Delta
	for _, d := range deltas {
		if !s.due(d) {
			if s.hold(d); s.endOfPanel(d) && s.turn == nil {
				due = s.release(due)
			}
			continue
		}
		if steered, ok := d.(Steered); ok {
			due = s.releaseSaid(due, steered.MessageID)
		}
		due = append(due, d)
		if s.follow(d); s.turn == nil {
			due = s.release(due)
		}
	}
	return due
}

// Waiting returns the messages that are delayed.
func (s *Sequence) Waiting() (messages []projection.Message) {
	for _, h := range s.held {
		if said, ok := h.Delta.(Said); ok {
			messages = append(messages, said.Message)
		}
	}
	return messages
}

// releaseSaid appends the held message with the id.
func (s *Sequence) releaseSaid(due []Delta, id string) []Delta {
	at := slices.IndexFunc(s.held, func(h *delayed) bool {
		said, ok := h.Delta.(Said)
		return ok && said.Message.ID == id
	})
	if at < 0 {
		return due
	}
	due = append(due, s.held[at].Delta)
	s.held = slices.Delete(s.held, at, at+1)
	return due
}

// Turn returns the open turn whose deltas are not delayed; nil: none is open.
func (s *Sequence) Turn() *Turn { return s.turn }

func (s *Sequence) due(d Delta) bool {
	if _, changed := d.(Changed); changed {
		return true
	}
	turn := TurnOf(d)
	if s.turn == nil && s.inPanel(turn) {
		return slices.Contains(s.ended, turn)
	}
	return s.turn == nil || turn == s.turn
}

// inPanel reports whether what a turn does follows its end.
func (s *Sequence) inPanel(t *Turn) bool { return s.Panels && t != nil && t.Panel != nil }

// endOfPanel moves what a turn of a panel did after what is held, if a delta ends it.
func (s *Sequence) endOfPanel(d Delta) bool {
	turn := TurnOf(d)
	if _, ended := d.(Ended); !ended || !s.inPanel(turn) {
		return false
	}
	var others, own []*delayed
	for _, h := range s.held {
		if TurnOf(h.Delta) == turn {
			own = append(own, h)
		} else {
			others = append(others, h)
		}
	}
	s.held, s.ended = append(others, own...), append(s.ended, turn)
	return true
}

// Of returns the deltas of a turn that are delayed.
func (s *Sequence) Of(turnID string) []Delta {
	return slices.DeleteFunc(s.Held(), func(d Delta) bool {
		t := TurnOf(d)
		return t == nil || t.ID != turnID
	})
}

// Held returns the deltas that are delayed, those of a turn in order.
func (s *Sequence) Held() (deltas []Delta) {
	for _, h := range s.held {
		deltas = append(deltas, h.joined())
	}
	return deltas
}

// follow makes the turn of a delta that is due the one whose deltas are not delayed, until it ends.
func (s *Sequence) follow(d Delta) {
	if t := TurnOf(d); t != nil {
		s.turn = t
	}
	if _, ended := d.(Ended); ended {
		s.turn = nil
		s.ended = slices.DeleteFunc(s.ended, func(t *Turn) bool { return t == TurnOf(d) })
	}
}

func (s *Sequence) hold(d Delta) {
	text, ok := d.(Text)
	if !ok {
		s.held = append(s.held, &delayed{Delta: d})
		return
	}
	var last *delayed
	for _, h := range slices.Backward(s.held[max(0, len(s.held)-maxOpen):]) {
		if TurnOf(h.Delta) == text.Turn {
			last = h
			break
		}
	}
	if last == nil || last.text.Len() == 0 {
		last = &delayed{Delta: d}
		s.held = append(s.held, last)
	}
	last.text.WriteString(text.Text)
}

// joined returns the delta with the texts that were added to it.
func (h *delayed) joined() Delta {
	text, ok := h.Delta.(Text)
	if !ok {
		return h.Delta
	}
	text.Text = h.text.String()
	return text
}

// release appends the held deltas that are due after a turn has ended.
func (s *Sequence) release(due []Delta) []Delta {
	var left []*delayed
	held := s.held
	for len(held) > 0 {
		h := held[0]
		held = held[1:]
		if !s.due(h.Delta) {
			left = append(left, h)
			continue
		}
		d := h.joined()
		due = append(due, d)
		if s.follow(d); s.turn == nil && len(left) > 0 { // what was left precedes what follows
			held, left = append(left, held...), nil
		}
	}
	s.held = left
	return due
}
