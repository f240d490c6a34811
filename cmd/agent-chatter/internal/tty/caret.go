package tty

import (
	"fmt"
	"os"

	"github.com/charmbracelet/x/ansi"
)

// A Caret is where the next character is typed: a live row and a column, from 0.
type Caret struct{ Row, Column int }

const (
	showCursor = "\x1b[?25h"
	hideCursor = "\x1b[?25l"
)

// place is where the cursor stands between frames. The zero place is column 0 of the first live row, hidden.
type place struct {
	Shown bool
	Above []int // the columns of the live rows above the one of the cursor
	// Wraps is the column of the cursor, if its row is broken, too, when the terminal becomes narrower. tmux does that.
	// xterm.js does not; if a row too few is counted, one is left, but if one too many is, a line is erased.
	Wraps int
}

var wrapsCursorRow = os.Getenv("TMUX") != ""

// placeOf returns the place of a caret in live rows, and what moves the cursor there from the zero place.
func placeOf(caret Caret, live []string) (p place, move string) {
	p.Shown = true
	for _, row := range live[:caret.Row] {
		p.Above = append(p.Above, ansi.StringWidth(row))
	}
	if wrapsCursorRow {
		p.Wraps = caret.Column
	}
	if caret.Row > 0 {
		move = fmt.Sprintf("\x1b[%dB", caret.Row)
	}
	if caret.Column > 0 {
		move += fmt.Sprintf("\x1b[%dC", caret.Column)
	}
	return p, move + showCursor
}

// erase returns what moves the cursor to the zero place, and erases the live rows. A terminal that has become narrower
// has broken the rows that are longer than its columns.
func (p place) erase(columns int) string {
	columns = max(columns, 1)
	up := len(p.Above) + p.Wraps/columns
	for _, width := range p.Above {
		up += max(width-1, 0) / columns
	}
	move := ""
	if p.Shown {
		move = hideCursor
	}
	if up > 0 {
		move += fmt.Sprintf("\x1b[%dA", up)
	}
	return move + eraseBelow
}
