package review

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// The sizes from which the list and the diff share the screen.
const (
	besideColumns = 140 // side by side
	belowRows     = 16  // one below the other, unless the diff has the keys
)

// A layout is where the list and the diff are. 0 rows: it is not shown.
type layout struct {
	listColumns, listRows int
	columns, rows         int // of the diff with its title
	beside                bool
}

func (p *Pane) layout() layout {
	switch {
	case p.columns >= besideColumns:
		list := p.columns * 3 / 10
		return layout{list, p.rows, p.columns - list - 2, p.rows, true}
	case p.reading:
		return layout{columns: p.columns, rows: p.rows}
	case p.rows >= belowRows:
		list := min(p.rows/2, max(len(p.list.rows), 3))
		return layout{p.columns, list, p.columns, p.rows - list, false}
	}
	return layout{listColumns: p.columns, listRows: p.rows}
}

const titleRows = 1

// arrange gives the parts of the screen their sizes.
func (p *Pane) arrange() {
	l := p.layout()
	p.list.arrange(max(l.listRows, 1))
	if l.rows > 0 {
		p.diff.resize(l.columns, max(l.rows-titleRows, 0), p.profile)
	}
}

// Rows returns the rows of the pane: as many as it has, each at most as wide as it is.
func (p *Pane) Rows() []string {
	if p.rows <= 0 || p.columns <= 0 {
		return nil
	}
	lines := p.lines()
	rows := make([]string, p.rows)
	for i, line := range lines[:min(len(lines), p.rows)] {
		rows[i] = p.profile.Encode(ansi.Cut(line, p.columns))
	}
	return rows
}

func (p *Pane) lines() []ansi.Line {
	switch {
	case p.helping:
		return helpLines(p.columns)
	case p.dialog != nil:
		return p.dialog.lines(p.columns, p.rows)
	case p.problem != "":
		return wrapped(tty.Safe(p.problem), p.columns, ansi.Style{Color: ansi.Yellow})
	case p.reader == nil:
		return []ansi.Line{{dimmed(textReading)}}
	}
	l := p.layout()
	listColumns := l.listColumns
	if l.beside {
		listColumns-- // before the line between them
	}
	list := p.list.lines(p.reader, listColumns, l.listRows, !p.reading)
	if l.rows == 0 {
		return list
	}
	right := append([]ansi.Line{p.titleLine(l)}, p.diffLines(l.columns)...)
	if !l.beside {
		list = append(list, make([]ansi.Line, max(l.listRows-len(list), 0))...)
		return append(list, right...)
	}
	lines := make([]ansi.Line, p.rows)
	for i := range lines {
		if i < len(list) {
			lines[i] = list[i]
		}
		blanks := strings.Repeat(" ", max(l.listColumns-lines[i].Columns(), 0))
		lines[i] = append(lines[i], ansi.Span{Text: blanks}, dimmed("│ "))
		if i < len(right) {
			lines[i] = append(lines[i], right[i]...)
		}
	}
	return lines
}

// titleLine names the file of the diff, between rules if the list is above it.
func (p *Pane) titleLine(l layout) ansi.Line {
	style := ansi.Style{Bold: true}
	if p.reading {
		style.Color = ansi.Cyan
	}
	line := ansi.Line{}
	if !l.beside && l.listRows > 0 {
		line = append(line, dimmed("── "))
	}
	if of := p.diff.of; p.diff.shown && of.step >= 0 {
		s := p.reader.Steps[of.step]
		if of.isFile() {
			state := stateLine(s.Files[of.file])
			room := max(l.columns-line.Columns()-state.Columns()-8, 8)
			path := shortened(tty.SafeLine(string(s.Files[of.file].Path)), room)
			line = append(append(line, ansi.Span{Text: path, Style: style}, ansi.Span{Text: "  "}), state...)
		}
		line = append(line, dimmed("  "+byText(s)+" "))
	}
	if !l.beside && l.listRows > 0 {
		line = append(line, dimmed(strings.Repeat("─", max(l.columns-line.Columns(), 0))))
	}
	return ansi.Cut(line, l.columns)
}

// diffLines returns what differs in the selected file, or why it is not shown.
func (p *Pane) diffLines(columns int) []ansi.Line {
	d, note := &p.diff, ansi.Style{Color: ansi.Yellow}
	switch {
	case !d.shown:
		return nil
	case d.of.step < 0:
		return wrapped(d.of.note, columns, ansi.Style{})
	case !d.of.isFile():
		s := p.reader.Steps[d.of.step]
		if s.Problem != "" {
			return wrapped(tty.Safe(s.Problem), columns, note)
		}
		return wrapped(stepText(s), columns, ansi.Style{Color: ansi.BrightBlack})
	case d.problem != "":
		return wrapped(tty.Safe(d.problem), columns, note)
	case d.content == nil:
		return []ansi.Line{{dimmed(textReading)}}
	}
	return d.visible(p.reading)
}

// Footer names the keys, or asks a question.
func (p *Pane) Footer() ansi.Line {
	switch d := p.dialog; {
	case p.helping:
		return keysLine("any key", "back")
	case d != nil && d.asks:
		return ansi.Line{{Text: " " + textRestoreQuestion, Style: ansi.Style{Color: ansi.Cyan}}}
	case d != nil && d.busy:
		return nil
	case d != nil:
		return keysLine("any key", "back")
	case p.reader == nil:
		return keysLine("q", "back")
	case p.reading && p.columns < allKeys:
		return keysLine("n p", "hunk", "h", "set back", "?", "help", "q", "back")
	case p.reading:
		return keysLine("n p", "hunk", "h", "set hunk back", "r", "set file back", "u", "undo",
			"?", "help", "q", "back")
	case p.columns < allKeys:
		return keysLine("enter", "open", "r", "set back", "?", "help", "q", "back")
	}
	return keysLine("↑↓", "select", "enter", "open", "r", "set back", "u", "undo", "?", "help", "q", "back")
}

// allKeys is how many columns the last line needs to name all keys.
const allKeys = 72

// keysLine is a line of keys and what they do.
func keysLine(pairs ...string) (line ansi.Line) {
	for i := 0; i < len(pairs); i += 2 {
		key := ansi.Span{Text: " " + pairs[i], Style: ansi.Style{Color: ansi.Cyan}}
		line = append(line, key, dimmed(" "+pairs[i+1]+" "))
	}
	return line
}
