package console

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
)

// A callList shows the tool calls of a conversation on the whole terminal, the newest one last. Enter opens one, and
// text that is typed after / filters them.
type callList struct {
	calls    []view.Call
	shown    []int // the indices of calls that contain query
	selected int   // in shown
	query    editor.Editor
	typing   bool // keys edit the query
	height   int  // rows of the list in the last frame
}

func newCallList(calls []view.Call) *callList {
	l := &callList{calls: calls}
	l.filter()
	l.selected = len(l.shown) - 1
	return l
}

// filter shows the calls whose input, output or error contains the query, in any case.
func (l *callList) filter() {
	query := strings.ToLower(l.query.Text())
	l.shown = nil
	for i, c := range l.calls {
		if query == "" || strings.Contains(strings.ToLower(c.Text()), query) {
			l.shown = append(l.shown, i)
		}
	}
	l.selected = max(0, min(l.selected, len(l.shown)-1))
}

// pressCalls handles a key while the list is open.
func (m *Model) pressCalls(k tty.Key) {
	l := m.calls
	step := max(l.height-1, 1)
	switch k {
	case key(tty.Enter, 0):
		if l.typing = false; len(l.shown) > 0 {
			m.page = m.callPage(l.calls[l.shown[l.selected]])
		}
	case key('c', tty.Ctrl), key('o', tty.Ctrl):
		m.calls = nil
	case key(tty.Escape, 0):
		switch {
		case l.typing, !l.query.Empty():
			l.typing = false
			l.query.Clear()
			l.filter()
		default:
			m.calls = nil
		}
	case key(tty.Up, 0):
		l.selected--
	case key(tty.Down, 0):
		l.selected++
	case key(tty.PageUp, 0):
		l.selected -= step
	case key(tty.PageDown, 0):
		l.selected += step
	default:
		l.pressText(m, k)
	}
	l.selected = max(0, min(l.selected, len(l.shown)-1))
}

// pressText handles a key that is text while the query is typed.
func (l *callList) pressText(m *Model, k tty.Key) {
	switch {
	case l.typing && k.IsText():
		l.query.Type(string(rune(k.Code)))
		l.filter()
	case l.typing:
		l.query.Press(k)
		l.filter()
	case k == key('q', 0):
		m.calls = nil
	case k == key('/', 0):
		l.typing = true
	case k == key('k', 0):
		l.selected--
	case k == key('j', 0):
		l.selected++
	case k == key('g', 0), k == key(tty.Home, 0):
		l.selected = 0
	case k == key('G', 0), k == key(tty.End, 0):
		l.selected = len(l.shown) - 1
	}
}

// callPage shows a call whole.
func (m *Model) callPage(c view.Call) *page {
	return &page{render: func(columns int) []string {
		style := m.style(columns)
		style.Whole = true
		return view.Render(view.BlockOf(c), style)
	}}
}

// callRows returns the rows of the list for a screen of so many columns and rows. The last one says what keys do.
func (m *Model) callRows(columns, height int) []string {
	l := m.calls
	l.height = max(height-1, 1)
	first := max(0, min(l.selected-l.height/2, len(l.shown)-l.height))
	var rows []string
	for i, at := range l.shown[first:min(len(l.shown), first+l.height)] {
		mark := "  "
		if first+i == l.selected {
			mark = m.styled(selected, "▸ ")
		}
		style := m.style(columns - 2)
		if lines := view.Render(view.BlockOf(l.calls[at]), style); len(lines) > 0 {
			rows = append(rows, mark+lines[0])
		} else {
			rows = append(rows, mark+tty.SafeLine(l.calls[at].Started.Name))
		}
	}
	for len(rows) < l.height {
		rows = append(rows, "")
	}
	state := callsText(l.selected+min(1, len(l.shown)), len(l.shown))
	if l.typing || !l.query.Empty() {
		state = "/" + tty.SafeLine(l.query.Text()) + " · " + state
	}
	return append(rows, m.styled(dim, cut(state, columns-1)))
}

// wholeRows returns the rows of what is shown on the whole terminal.
func (m *Model) wholeRows(columns, height int) []string {
	if m.page != nil {
		return m.page.rows(columns, height)
	}
	return m.callRows(columns, height)
}

// callsText is the last row of the list of calls.
func callsText(selected, calls int) string {
	return fmt.Sprintf("%d of %d · Enter opens · / filters · q closes", selected, calls)
}

// showCalls opens the list of tool calls.
func (c *Console) showCalls() {
	if c.model.Transcript != nil {
		if calls := c.model.Transcript.Calls(); len(calls) > 0 {
			c.model.calls = newCallList(calls)
			return
		}
	}
	c.print([]string{textNoOutput})
}
