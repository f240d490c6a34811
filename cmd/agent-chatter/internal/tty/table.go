package tty

import (
	"fmt"
	"io"
	"strings"

	"github.com/clipperhouse/displaywidth"
)

// LeastShown is the minimum width in columns of a text that is cut, however narrow the
// terminal is.
const LeastShown = 12

// Table aligns rows of texts. The last text of a row is cut to the width of the
// terminal.
type Table struct {
	Columns int
	rows    [][]string
}

func (t *Table) Add(row ...string) { t.rows = append(t.rows, row) }

func (t *Table) Write(w io.Writer) error {
	widths := t.widths()
	for _, row := range t.rows {
		var line strings.Builder
		room := t.Columns - 1
		last := len(row) - 1
		for i, text := range row[:last] {
			line.WriteString(text + strings.Repeat(" ", widths[i]+2-displaywidth.String(text)))
			room -= widths[i] + 2
		}
		text := row[last]
		if t.Columns > 0 {
			text = displaywidth.TruncateString(text, max(room, LeastShown), "…")
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(line.String()+text, " ")); err != nil {
			return err
		}
	}
	return nil
}

func (t *Table) widths() (widths []int) {
	for _, row := range t.rows {
		for i, text := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], displaywidth.String(text))
		}
	}
	return widths
}
