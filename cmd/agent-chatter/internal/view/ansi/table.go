package ansi

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

const (
	minColumn = 4  // columns of the narrowest column of a table that has to be narrowed
	maxWord   = 10 // columns of the longest word that is not divided in such a table
	cellGap   = 3  // columns between two columns of a table: " │ "
)

// table lays out a table. Cells are wrapped. If not all columns fit, each row is a list of its cells with the names
// of their columns.
func (w writer) table(b markdown.Block, room int) []Line {
	width := len(b.Align)
	for _, row := range b.Rows {
		width = max(width, len(row))
	}
	if (minColumn+cellGap)*width-cellGap > room {
		return w.records(b, room)
	}
	rows := make([][]Line, len(b.Rows))
	widths, words := make([]int, width), make([]int, width)
	for i, row := range b.Rows {
		rows[i] = make([]Line, width)
		for j, cell := range row {
			rows[i][j] = w.inlines(cell, Style{Bold: i == 0})
			for _, line := range Wrap(rows[i][j], room) {
				widths[j] = max(widths[j], line.Columns())
			}
			words[j] = max(words[j], longestWord(rows[i][j]))
		}
	}
	if !narrow(widths, words, room) {
		return w.records(b, room)
	}
	var lines []Line
	for i, row := range rows {
		lines = append(lines, tableRow(row, widths, b.Align)...)
		if i == 0 {
			var rule []string
			for _, n := range widths {
				rule = append(rule, strings.Repeat("─", n))
			}
			lines = append(lines, Line{{Text: strings.Join(rule, "─┼─"), Style: dim}})
		}
	}
	return lines
}

// longestWord returns the columns of the longest word of a cell. A wide character is a word.
func longestWord(cell Line) (longest int) {
	columns := 0
	for _, span := range cell {
		chars := charactersOf(span.Text)
		for text, n := chars.next(); text != ""; text, n = chars.next() {
			if strings.TrimSpace(text) == "" {
				columns = 0
				continue
			}
			columns += n
			longest = max(longest, columns)
			if n > 1 {
				columns = 0
			}
		}
	}
	return longest
}

// narrow reduces columns until a table fits: the widest ones that are wider than their longest word, and then those
// with the longest words. It reports false if words of at most maxWord columns would be divided.
func narrow(widths, words []int, room int) bool {
	total := cellGap * (len(widths) - 1)
	least := total
	for j, n := range widths {
		total += n
		least += min(n, words[j], maxWord)
	}
	if total <= room {
		return true
	}
	for total > room {
		widest := -1
		for j, n := range widths {
			if n > words[j] && (widest < 0 || n > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			widest = slices.Index(widths, slices.Max(widths))
			words[widest]--
		}
		widths[widest]--
		total--
	}
	return least <= room
}

// tableRow lays out the cells of a row side by side.
func tableRow(row []Line, widths []int, align []markdown.Alignment) []Line {
	cells := make([][]Line, len(row))
	height := 0
	for j, cell := range row {
		cells[j] = Wrap(cell, widths[j])
		height = max(height, len(cells[j]))
	}
	lines := make([]Line, height)
	for i := range lines {
		for j := range cells {
			var text Line
			if i < len(cells[j]) {
				text = cells[j][i]
			}
			blanks := max(widths[j]-text.Columns(), 0)
			before := 0
			if j < len(align) {
				switch align[j] {
				case markdown.AlignRight:
					before = blanks
				case markdown.AlignCenter:
					before = blanks / 2
				}
			}
			if j > 0 {
				lines[i] = append(lines[i], Span{Text: " │ ", Style: dim})
			}
			lines[i] = append(lines[i], Span{Text: strings.Repeat(" ", before)})
			lines[i] = append(lines[i], text...)
			if j < len(cells)-1 {
				lines[i] = append(lines[i], Span{Text: strings.Repeat(" ", blanks-before)})
			}
		}
	}
	return lines
}

// maxLabel is how many columns of the name of a column precede each of its cells in records.
const maxLabel = 24

// records lays out a table with more columns than fit: the cells of a row follow each other.
func (w writer) records(b markdown.Block, room int) []Line {
	var lines []Line
	for i, row := range b.Rows {
		if i == 0 && len(b.Rows) > 1 {
			continue
		}
		if i > 1 {
			lines = append(lines, Line{{Text: strings.Repeat("─", min(room, ruleColumns)), Style: dim}})
		}
		var record Line
		for j, cell := range row {
			if j > 0 {
				record = append(record, Span{Text: " · ", Style: dim})
			}
			if i > 0 && j < len(b.Rows[0]) {
				name := Cut(w.inlines(b.Rows[0][j], Style{Bold: true}), maxLabel)
				record = append(append(record, name...), Span{Text: ": "})
			}
			record = append(record, w.inlines(cell, Style{})...)
		}
		lines = append(lines, Wrap(record, room)...)
	}
	return lines
}
