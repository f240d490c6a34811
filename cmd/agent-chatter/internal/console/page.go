package console

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A page shows a long text on the whole terminal.
type page struct {
	render  func(columns int) []string
	lines   []string // as rendered for columns
	first   int      // the first line that is shown
	columns int      // of the last frame
	height  int      // of the last frame
}

// pressPage handles a key while the page is open.
func (m *Model) pressPage(k tty.Key) Effect {
	p := m.page
	step := max(p.height-2, 1)
	switch k {
	case key(tty.Escape, 0), key('q', 0), key('o', tty.Ctrl), key('c', tty.Ctrl):
		m.page = nil
	case key(tty.Up, 0), key('k', 0):
		p.first--
	case key(tty.Down, 0), key('j', 0), key(tty.Enter, 0):
		p.first++
	case key(tty.PageUp, 0), key('b', 0):
		p.first -= step
	case key(tty.PageDown, 0), key(' ', 0):
		p.first += step
	case key(tty.Home, 0), key('g', 0):
		p.first = 0
	case key(tty.End, 0), key('G', 0):
		p.first = len(p.lines)
	}
	return None
}

// rows returns the rows of the page for a screen of so many columns and rows. The last one says where it is.
func (p *page) rows(columns, height int) []string {
	if columns != p.columns {
		lines := p.render(columns)
		p.first = p.first * len(lines) / max(len(p.lines), 1) // about the same place
		p.lines, p.columns = lines, columns
	}
	p.height = height
	shown := max(height-1, 1)
	p.first = max(0, min(p.first, len(p.lines)-shown))
	last := min(p.first+shown, len(p.lines))
	rows := append([]string{}, p.lines[p.first:last]...)
	for len(rows) < shown {
		rows = append(rows, "")
	}
	return append(rows, pageText(p.first+1, last, len(p.lines)))
}

// pageText is the last row of a page.
func pageText(first, last, lines int) string {
	return fmt.Sprintf("%d–%d of %d · q closes", first, last, lines)
}
