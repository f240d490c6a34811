package conversation

import "strings"

// A Sequence orders deltas for a surface that shows one thing after the other: the deltas of a turn that began while
// another one was open, and messages without a turn, follow the end of that one. Changes of the session are not
// delayed. The zero Sequence is ready to use.
type Sequence struct {
	turn *Turn      // whose deltas are not delayed; nil: all are
	held []*delayed // in order
}

// A delayed delta. The text of deltas of the same turn in a row is joined.
type delayed struct {
	Delta
	text strings.Builder
}

// Next adds deltas and returns those that are due.
func (s *Sequence) Next(deltas []Delta) []Delta {
	if s.turn == nil && len(s.held) == 0 && len(deltas) == 1 {
		s.follow(deltas[0])
		return deltas
	}
	var due []Delta
	for _, d := range deltas {
		if !s.due(d) {
			s.hold(d)
			continue
		}
		due = append(due, d)
		if s.follow(d); s.turn == nil {
			due = s.release(due)
		}
	}
	return due
}

// Turn returns the open turn whose deltas are not delayed; nil: none is open.
func (s *Sequence) Turn() *Turn { return s.turn }

func (s *Sequence) due(d Delta) bool {
	if _, changed := d.(Changed); changed {
		return true
	}
	return s.turn == nil || TurnOf(d) == s.turn
}

// follow makes the turn of a delta that is due the one whose deltas are not delayed, until it ends.
func (s *Sequence) follow(d Delta) {
	if t := TurnOf(d); t != nil {
		s.turn = t
	}
	if _, ended := d.(Ended); ended {
		s.turn = nil
	}
}

func (s *Sequence) hold(d Delta) {
	text, ok := d.(Text)
	if !ok {
		s.held = append(s.held, &delayed{Delta: d})
		return
	}
	var last *delayed
	if n := len(s.held); n > 0 {
		last = s.held[n-1]
	}
	if last == nil || last.text.Len() == 0 || TurnOf(last.Delta) != text.Turn {
		last = &delayed{Delta: d}
		s.held = append(s.held, last)
	}
	last.text.WriteString(text.Text)
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
		d := h.Delta
		if text, ok := d.(Text); ok {
			text.Text = h.text.String()
			d = text
		}
		due = append(due, d)
		if s.follow(d); s.turn == nil && len(left) > 0 { // what was left precedes what follows
			held, left = append(left, held...), nil
		}
	}
	s.held = left
	return due
}
