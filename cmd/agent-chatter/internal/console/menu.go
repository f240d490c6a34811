package console

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// menu offers completions of the word before the cursor.
type menu struct {
	choices  []editor.Choice
	wordLen  int // bytes of the word before the cursor
	selected int
	moved    bool // the user has chosen with the arrows: Enter takes the choice
}

func (m *menu) open() bool { return len(m.choices) > 0 }

// complete offers what the word before the cursor can become.
func (m *Model) complete() {
	m.menu = menu{}
	if m.closed != "" && m.closed == m.Editor.Text() {
		return
	}
	m.closed = ""
	before, first := m.Editor.Before()
	choices, word := editor.Complete(before, first, m.Sources)
	if len(choices) == 1 && choices[0].Text == before[len(before)-word:] {
		return // it is complete
	}
	m.menu = menu{choices: choices, wordLen: word}
}

// Listed offers what the word before the cursor can become once more, now that its sources have more. An open menu
// stays as it is.
func (m *Model) Listed() {
	if !m.menu.open() && !m.modal() {
		m.complete()
	}
}

// menuKey handles a key if it is one of the open menu's, and reports whether it is.
func (m *Model) menuKey(k tty.Key) bool {
	open := &m.menu
	switch k {
	case key(tty.Up, 0), key('p', tty.Ctrl):
		open.selected, open.moved = (open.selected+len(open.choices)-1)%len(open.choices), true
	case key(tty.Down, 0), key('n', tty.Ctrl):
		open.selected, open.moved = (open.selected+1)%len(open.choices), true
	case key(tty.Tab, 0):
		m.take()
	case key(tty.Enter, 0):
		if !open.moved {
			return false
		}
		m.take()
	case key(tty.Escape, 0):
		m.menu, m.closed = menu{}, m.Editor.Text()
	default:
		return false
	}
	return true
}

// take replaces the word by the selected choice.
func (m *Model) take() {
	text := m.menu.choices[m.menu.selected].Text
	if !strings.HasSuffix(text, "/") {
		text += " "
	}
	m.Editor.ReplaceBefore(m.menu.wordLen, text)
	m.complete()
}

// menuRows returns at most limit rows of the menu, around the selected choice.
func (m *Model) menuRows(columns, limit int) (rows []string) {
	choices := m.menu.choices
	first := max(0, min(m.menu.selected-limit/2, len(choices)-limit))
	names := 0
	for _, c := range choices {
		names = max(names, displaywidth.String(c.Text))
	}
	for i, c := range choices[first:min(len(choices), first+limit)] {
		help := c.Help
		if help != "" {
			help = strings.Repeat(" ", names-displaywidth.String(c.Text)+2) + help
		}
		rows = append(rows, m.choiceRow(first+i == m.menu.selected, tty.SafeLine(c.Text), tty.SafeLine(help), columns))
	}
	return rows
}

// choiceRow is a row of a list from which one is selected.
func (m *Model) choiceRow(chosen bool, text, help string, columns int) string {
	mark, style := "  ", ansi.Style{}
	if chosen {
		mark, style = "▸ ", selected
	}
	text = cut(mark+text, columns)
	row := m.styled(style, text)
	if room := columns - displaywidth.String(text); room > 0 {
		row += m.styled(dim, displaywidth.TruncateString(help, room, "…"))
	}
	return row
}
