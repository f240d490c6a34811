package editor

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// row is a row of the screen: the cells in [from, to). A line break that ends it is not in it.
type row struct {
	from, to int
	broken   bool // a line break or the end of the text follows
}

// layout breaks the text into rows of e.Width columns, after a blank if there is one.
func (e *Editor) layout() []row {
	var rows []row
	from, column := 0, 0
	word := 0 // where the word begins that may move to the next row
	for i, c := range e.cells {
		if c == lineBreak {
			rows = append(rows, row{from, i, true})
			from, column, word = i+1, 0, i+1
			continue
		}
		n := displaywidth.String(c.shown())
		for e.Width > 0 && column > 0 && column+n > e.Width {
			if word <= from {
				word = i
			}
			rows = append(rows, row{from, word, false})
			from, column = word, e.columns(word, i)
		}
		column += n
		if c.shown() == " " {
			word = i + 1
		}
	}
	rows = append(rows, row{from, len(e.cells), true})
	return rows
}

// cursorRow returns the index of the row with the cursor.
func (e *Editor) cursorRow(rows []row) int {
	return slices.IndexFunc(rows, func(r row) bool { return e.at < r.to || e.at == r.to && r.broken })
}

func (e *Editor) columns(from, to int) int {
	n := 0
	for _, c := range e.cells[from:to] {
		n += displaywidth.String(c.shown())
	}
	return n
}

// moveRow moves the cursor by rows. It reports whether there is such a row.
func (e *Editor) moveRow(by int) bool {
	rows := e.layout()
	now := e.cursorRow(rows)
	if now+by < 0 || now+by >= len(rows) {
		return false
	}
	goal := e.goal - 1
	if goal < 0 {
		goal = e.columns(rows[now].from, e.at)
	}
	to := rows[now+by]
	last := to.to
	if !to.broken {
		last--
	}
	at, column := to.from, 0
	for at < last {
		n := displaywidth.String(e.cells[at].shown())
		if column+n > goal {
			break
		}
		column += n
		at++
	}
	e.move(at)
	e.goal = goal + 1
	return true
}

// A View is a part of a text on the screen.
type View struct {
	Rows         []string
	Caret        tty.Caret // the cursor in Rows; at the end of a row it is after its last column
	Above, Below int       // how many rows are left out
}

// View returns at most limit rows of the text, those around the cursor.
func (e *Editor) View(limit int) (v View) {
	rows := e.layout()
	cursor := e.cursorRow(rows)
	first := max(0, min(cursor-limit/2, len(rows)-limit))
	last := min(len(rows), first+max(1, limit))
	for _, r := range rows[first:last] {
		var b strings.Builder
		for _, c := range e.cells[r.from:r.to] {
			b.WriteString(c.shown())
		}
		v.Rows = append(v.Rows, b.String())
	}
	v.Caret = tty.Caret{Row: cursor - first, Column: e.columns(rows[cursor].from, e.at)}
	v.Above, v.Below = first, len(rows)-last
	return v
}
