package ansi

import (
	"bytes"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/clipperhouse/displaywidth"
)

// A Column says how a column of a Table is shown.
type Column struct {
	Name  string // in the header
	Right bool   // aligned at the right, as numbers are
	Path  bool   // a text that is cut keeps its end, from a separator on if it has one
	Least int    // the width that its texts are cut to at most, in columns of the terminal; 0: they are not cut
	Rank  int    // of the columns that do not fit, that with the highest rank is left out first; 0: it stays
}

// A Table is a list of rows. Each row has a cell for each of the Columns.
type Table struct {
	Columns []Column
	rows    [][]Line
}

// Add adds a row.
func (t *Table) Add(cells ...Line) { t.rows = append(t.rows, cells) }

// Text returns a cell in one style.
func Text(text string, style Style) Line { return Line{{Text: text, Style: style}} }

// gap is how many columns are between two columns of a Table.
const gap = 2

// Lines lays out the header and the rows in lines of at most so many columns. Without rows there is no header.
func (t *Table) Lines(columns int) []Line {
	if len(t.rows) == 0 {
		return nil
	}
	head := make([]Line, len(t.Columns))
	for i, c := range t.Columns {
		head[i] = Text(c.Name, Style{Bold: true})
	}
	widths := t.fit(head, columns)
	lines := []Line{t.line(head, widths)}
	for _, row := range t.rows {
		lines = append(lines, t.line(row, widths))
	}
	return lines
}

// Write prints the table on a terminal of so many columns, of which it leaves the last one empty. The error is that of
// w.
func (t *Table) Write(w io.Writer, columns int, p Profile) error {
	var b bytes.Buffer
	for _, line := range t.Lines(columns - 1) {
		b.WriteString(p.Encode(line) + "\n")
	}
	_, err := w.Write(b.Bytes())
	return err
}

// line lays out the cells of a row. A column of width 0 is left out.
func (t *Table) line(row []Line, widths []int) (line Line) {
	for i, cell := range row {
		if widths[i] == 0 {
			continue
		}
		if len(line) > 0 {
			line = append(line, Span{Text: strings.Repeat(" ", gap)})
		}
		cell = t.Columns[i].cut(cell, widths[i])
		blanks := Span{Text: strings.Repeat(" ", widths[i]-cell.Columns())}
		if t.Columns[i].Right {
			line = append(append(line, blanks), cell...)
		} else {
			line = append(append(line, cell...), blanks)
		}
	}
	return line
}

// cut cuts a cell of the column. Of a path it keeps only the first style.
func (c Column) cut(cell Line, columns int) Line {
	if !c.Path || cell.Columns() <= columns {
		return Cut(cell, columns)
	}
	text := ""
	for _, span := range cell {
		text += tty.SafeLine(span.Text)
	}
	graphemes := displaywidth.StringGraphemes(text)
	for displaywidth.String(text) >= columns && graphemes.Next() {
		text = text[len(graphemes.Value()):]
	}
	text = text[max(strings.IndexAny(text, `/\`), 0):]
	return Cut(Line{{Text: "…" + text, Style: cell[0].Style}}, columns)
}

// fit returns the widths of the columns, 0 for one that is left out.
func (t *Table) fit(head []Line, room int) []int {
	widths, least := t.widths(head), make([]int, len(t.Columns))
	for i, c := range t.Columns {
		least[i] = widths[i]
		if c.Least > 0 {
			least[i] = min(least[i], c.Least)
		}
	}
	for total(least) > room {
		last := -1
		for i, c := range t.Columns {
			if least[i] > 0 && c.Rank > 0 && (last < 0 || c.Rank > t.Columns[last].Rank) {
				last = i
			}
		}
		if last < 0 {
			break
		}
		widths[last], least[last] = 0, 0
	}
	narrowToLeast(widths, least, room)
	narrowToLeast(widths, make([]int, len(widths)), room) // no column is left to leave out
	return widths
}

// widths returns the widths of the texts, 0 for a column without any.
func (t *Table) widths(head []Line) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range t.rows {
		for i, cell := range row {
			widths[i] = max(widths[i], cell.Columns())
		}
	}
	for i, name := range head {
		if widths[i] > 0 {
			widths[i] = max(widths[i], name.Columns())
		}
	}
	return widths
}

// narrowToLeast reduces the widest columns until the table fits, but none below its least width or 1.
func narrowToLeast(widths, least []int, room int) {
	for over := total(widths) - room; over > 0; over-- {
		widest := -1
		for i, n := range widths {
			if n > max(least[i], 1) && (widest < 0 || n > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		widths[widest]--
	}
}

// total returns the width of a table with columns of these widths.
func total(widths []int) int {
	n := 0
	for _, width := range widths {
		if width > 0 {
			n += width + gap
		}
	}
	return max(0, n-gap)
}

// Align returns the rows of texts as lines in which the texts of a column begin in the same column of a terminal.
func Align(rows [][]string) []string {
	var widths []int
	for _, row := range rows {
		widths = append(widths, make([]int, max(0, len(row)-len(widths)))...)
		for i, text := range row {
			widths[i] = max(widths[i], displaywidth.String(text))
		}
	}
	lines := make([]string, len(rows))
	for i, row := range rows {
		var b strings.Builder
		for j, text := range row {
			b.WriteString(text + strings.Repeat(" ", widths[j]+gap-displaywidth.String(text)))
		}
		lines[i] = strings.TrimRight(b.String(), " ")
	}
	return lines
}
