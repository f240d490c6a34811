package tty

import (
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// The alternate screen has a stack of its own for the kitty keyboard protocol.
const (
	alternateOn  = "\x1b[?1049h" + kittyOn
	alternateOff = kittyOff + "\x1b[?1049l"
)

// Page shows rows on the whole terminal until the next Draw, which shows the lines above the live rows again. It uses
// the alternate screen, which has no scrollback. The rows are like those of Draw; the first ones are shown.
func (s *Screen) Page(rows []string) error {
	area := s.area()
	rows = rows[:min(len(rows), area.rows)]
	var b strings.Builder
	b.WriteString(beginUpdate + wrapOff + "\x1b[H")
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(ansi.Truncate(row, area.columns-1, "") + "\x1b[K")
	}
	b.WriteString("\x1b[J" + wrapOn + endUpdate)
	if err := s.alternate(true); err != nil {
		return err
	}
	s.frame = frame{}
	_, err := io.WriteString(s.out, b.String())
	return err
}

// setAlternate enters or leaves the alternate screen.
func (t *Terminal) setAlternate(on bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.alternate == on {
		return nil
	}
	t.alternate = on
	modes := alternateOff
	if on {
		columns, _ := t.Size()
		modes = t.place.erase(columns) + alternateOn
		t.place = place{}
	}
	t.watcher.claim(t.claim())
	// Crash here lets the watcher leave the alternate screen without having entered it.
	_, err := io.WriteString(t.out, modes)
	return err
}
