package tty

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Screen draws on a terminal: lines that are done, which scroll away like the output of any program and are never
// touched again, and below them live rows, which the next frame replaces. Between frames the cursor is at the caret, or
// hidden in column 0 of the first live row: then a frame needs to know neither what the terminal has made of the rows
// after a resize, nor where they are. It may be used by one goroutine at a time.
type Screen struct {
	out       io.Writer
	area      func() area
	alternate func(on bool) error // enters or leaves the alternate screen
	place     func() place        // of the cursor
	setPlace  func(place)
	frame     frame // the last one
	clear     bool
}

// area is where a frame is drawn.
type area struct {
	columns, rows int
	changes       uint64 // how often it, or what it shows, may have changed
}

type frame struct {
	area  area
	live  string
	caret Caret
	shown bool
}

// NewScreen returns the screen of a terminal. Nothing is drawn yet.
func NewScreen(t *Terminal) *Screen {
	return &Screen{out: t.out, area: t.area, alternate: t.setAlternate, place: t.cursor, setPlace: t.setCursor}
}

// NewOutput returns the screen of a terminal that is only written to: it keeps its settings and modes, so that the
// cursor is visible, Ctrl+C is a signal, and a process that dies leaves nothing to restore. It has no Page.
func NewOutput(out *os.File) *Screen {
	area := func() area {
		columns, rows := size(out)
		return area{columns: columns, rows: rows}
	}
	return &Screen{
		out: out, area: area, alternate: func(bool) error { return nil },
		place: func() place { return place{} }, setPlace: func(place) {},
	}
}

// Size returns the columns and rows of the terminal, 80 and 24 if they are unknown.
func (s *Screen) Size() (columns, rows int) {
	area := s.area()
	return area.columns, area.rows
}

const (
	beginUpdate = "\x1b[?2026h"
	endUpdate   = "\x1b[?2026l"
	// In column 0 of the first row, tmux would move what ESC [J erases to the scrollback.
	eraseBelow = "\r\x1b[K\x1b[C\x1b[J\r"
	wrapOff    = "\x1b[?7l"
	wrapOn     = "\x1b[?7h"
)

// Draw prints lines and replaces the live rows, in one write. The texts have no control characters but those of
// colours, emphasis and links, and each ends its own. The terminal wraps a line that is too long; a row is cut. If
// there are more rows than the terminal has, the last ones are shown. Unless caret is nil, the cursor is shown there.
// An unchanged frame is not written.
func (s *Screen) Draw(done, live []string, caret *Caret) error {
	if err := s.alternate(false); err != nil {
		return err
	}
	area := s.area()
	left := max(0, len(live)-area.rows)
	live = live[left:]
	cut := make([]string, len(live))
	for i, row := range live {
		cut[i] = ansi.Truncate(row, area.columns-1, "")
	}
	next := frame{area: area, live: strings.Join(cut, "\r\n")}
	if caret != nil && caret.Row >= left {
		next.caret, next.shown = Caret{caret.Row - left, min(caret.Column, area.columns-1)}, true
	}
	if len(done) == 0 && next == s.frame && !s.clear {
		return nil
	}
	before := s.place()
	after, move := place{}, ""
	if next.shown {
		after, move = placeOf(next.caret, cut)
	}
	if !slices.Equal(before.Above, after.Above) {
		s.setPlace(place{})
	}
	// Crash here leaves live rows on the screen.
	var b strings.Builder
	b.WriteString(beginUpdate + before.erase(area.columns))
	if s.clear {
		// What is on the screen moves to the scrollback.
		fmt.Fprintf(&b, "\x1b[%dH%s\x1b[H", area.rows, strings.Repeat("\n", area.rows))
	}
	for _, line := range done {
		b.WriteString(line + "\r\n")
	}
	b.WriteString(wrapOff + next.live + wrapOn + "\r")
	if len(live) > 1 {
		fmt.Fprintf(&b, "\x1b[%dA", len(live)-1)
	}
	b.WriteString(move + endUpdate)
	if _, err := io.WriteString(s.out, b.String()); err != nil {
		return err
	}
	s.setPlace(after)
	s.frame, s.clear = next, false
	return nil
}

// Clear makes the next frame begin at the top of an empty screen. What is on the screen moves to the scrollback.
func (s *Screen) Clear() { s.clear = true }
