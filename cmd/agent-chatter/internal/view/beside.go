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

// BesideLines returns the lines that a hunk changes, those before it at the left of those after it. The lines of a long
// text continue below it.
func BesideLines(h Hunk, s Style) (lines []ansi.Line) {
	d := diff{style: s, digits: len(fmt.Sprint(max(h.Old, h.New, 1) + len(h.Changes)))}
	columns := (s.columns() - ansi.Line{{Text: besideGap}}.Columns()) / 2
	texts, before, after := d.texts(h), h.Old, h.New
	for i := 0; i < len(h.Changes); {
		if h.Changes[i].Kind == Kept {
			left, right := d.cell(Kept, before, texts[i], columns), d.cell(Kept, after, texts[i], columns)
			lines = append(lines, beside(left, right, columns)...)
			before, after, i = before+1, after+1, i+1
			continue
		}
		var left, right []ansi.Line
		for ; i < len(h.Changes) && h.Changes[i].Kind == Removed; i++ {
			left = append(left, texts[i])
		}
		for ; i < len(h.Changes) && h.Changes[i].Kind == Added; i++ {
			right = append(right, texts[i])
		}
		for row := range max(len(left), len(right)) {
			var cells [2][]ansi.Line
			if row < len(left) {
				cells[0] = d.cell(Removed, before, left[row], columns)
				before++
			}
			if row < len(right) {
				cells[1] = d.cell(Added, after, right[row], columns)
				after++
			}
			lines = append(lines, beside(cells[0], cells[1], columns)...)
		}
	}
	return lines
}

// cell returns a line of one side.
func (d diff) cell(kind ChangeKind, number int, text ansi.Line, columns int) (lines []ansi.Line) {
	lead := d.lead(kind, number)[1:]
	for _, part := range ansi.Wrap(text, max(columns-lead.Columns(), minColumns)) {
		lines = append(lines, joined(append(lead, part...)))
		lead = ansi.Line{{Text: strings.Repeat(" ", lead.Columns())}}
	}
	return lines
}

// beside joins the lines of two cells.
func beside(left, right []ansi.Line, columns int) (lines []ansi.Line) {
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
	return lines
}
