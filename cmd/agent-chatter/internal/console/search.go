package console

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Search looks for earlier messages of people.
type Search struct {
	Text     string
	Found    []string // messages, the newest first, each once
	Running  bool
	selected int
}

// maxSearch is how many bytes of a text are searched for.
const maxSearch = 1000

func (s *Search) add(text string) { s.Text, s.selected = runecut.Prefix(s.Text+text, maxSearch), 0 }

// search handles a key while it is open.
func (m *Model) search(k tty.Key) Effect {
	s := m.Search
	switch k {
	case key(tty.Escape, 0), key('g', tty.Ctrl):
		m.Search = nil
	case key(tty.Enter, 0), key(tty.Tab, 0):
		if s.selected < len(s.Found) {
			m.Editor.Set(s.Found[s.selected])
		}
		m.Search = nil
		m.complete()
	case key('r', tty.Ctrl), key(tty.Down, 0):
		s.selected = min(s.selected+1, max(len(s.Found)-1, 0))
	case key('s', tty.Ctrl), key(tty.Up, 0):
		s.selected = max(s.selected-1, 0)
	case key(tty.Backspace, 0), key('h', tty.Ctrl):
		if typed := []rune(s.Text); len(typed) > 0 {
			s.Text, s.selected = string(typed[:len(typed)-1]), 0
			return Find
		}
	default:
		if k.IsText() {
			s.add(string(rune(k.Code)))
			return Find
		}
	}
	return None
}

// rows returns at most limit rows of what was found, around the selected message.
func (m *Model) searchRows(columns, limit int) (rows []string) {
	s := m.Search
	switch {
	case s.Running:
		return []string{m.styled(dim, cut("  …", columns))}
	case len(s.Found) == 0:
		return []string{m.styled(dim, cut(textNothingFound, columns))}
	}
	first := max(0, min(s.selected-limit/2, len(s.Found)-limit))
	for i, text := range s.Found[first:min(len(s.Found), first+limit)] {
		row := tty.SafeLine(runecut.Prefix(text, maxRow))
		rows = append(rows, m.choiceRow(first+i == s.selected, row, "", columns))
	}
	return rows
}
