package view

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// BesideColumns is how many columns the lines of a hunk need at least, if those before and after are side by side.
const BesideColumns = 110

// besideGap is between the two sides.
const besideGap = " │ "

// A HunkLine is a line of a hunk in the colours of its language. The words that differ from those of the line that it
// replaces, or that replaces it, are bold and underlined.
type HunkLine struct {
	Kind   ChangeKind // 0: there is no line
	Number int        // before the change of a removed line, else after it; at the left of BesideRows, before it
	Text   ansi.Line
}

// HunkLines returns the lines of a hunk.
func HunkLines(h Hunk) []HunkLine {
	numbers, texts := h.numbers(), texts(h, true)
	lines := make([]HunkLine, len(h.Changes))
	for i, c := range h.Changes {
		lines[i] = HunkLine{c.Kind, numbers[i], texts[i]}
	}
	return lines
}

// BesideRows returns the lines of a hunk as they are before and after the change, side by side.
func BesideRows(h Hunk) [][2]HunkLine { return besideRows(h, texts(h, true)) }

func besideRows(h Hunk, texts []ansi.Line) (rows [][2]HunkLine) {
	before, after := h.Old, h.New
	for i := 0; i < len(h.Changes); {
		if h.Changes[i].Kind == Kept {
			rows = append(rows, [2]HunkLine{{Kept, before, texts[i]}, {Kept, after, texts[i]}})
			before, after, i = before+1, after+1, i+1
			continue
		}
		first := len(rows)
		for ; i < len(h.Changes) && h.Changes[i].Kind == Removed; i++ {
			rows = append(rows, [2]HunkLine{{Removed, before, texts[i]}})
			before++
		}
		for row := first; i < len(h.Changes) && h.Changes[i].Kind == Added; i, row = i+1, row+1 {
			if row == len(rows) {
				rows = append(rows, [2]HunkLine{})
			}
			rows[row][1] = HunkLine{Added, after, texts[i]}
			after++
		}
	}
	return rows
}

// BesideLines returns the lines of a hunk, those before the change at the left of those after it. The rest of a long
// line is below it.
func BesideLines(h Hunk, s Style) (lines []ansi.Line) {
	d := diff{style: s, digits: len(fmt.Sprint(max(h.Old, h.New, 1) + len(h.Changes)))}
	columns := (s.columns() - ansi.Line{{Text: besideGap}}.Columns()) / 2
	for _, row := range besideRows(h, texts(h, d.colored())) {
		left, right := d.cell(row[0], columns), d.cell(row[1], columns)
		for i := range max(len(left), len(right)) {
			var line ansi.Line
			if i < len(left) {
				line = append(line, ansi.Cut(left[i], columns)...)
			}
			blanks := strings.Repeat(" ", max(columns-line.Columns(), 0))
			line = append(line, ansi.Span{Text: blanks}, ansi.Span{Text: besideGap, Style: ansi.Style{Dim: true}})
			if i < len(right) {
				line = append(line, ansi.Cut(right[i], columns)...)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// cell returns a line of one side.
func (d diff) cell(l HunkLine, columns int) (lines []ansi.Line) {
	if l.Kind == 0 {
		return nil
	}
	lead := d.lead(l.Kind, l.Number)[1:]
	for _, part := range ansi.Wrap(d.changed(l.Text, l.Kind), max(columns-lead.Columns(), minColumns)) {
		lines = append(lines, joined(append(lead, part...)))
		lead = ansi.Line{{Text: strings.Repeat(" ", lead.Columns())}}
	}
	return lines
}
