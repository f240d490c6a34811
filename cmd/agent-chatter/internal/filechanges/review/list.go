package review

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A row is a turn, a file of the turn above it, or a note.
type row struct {
	step int // -1: a note
	file int // of the step; -1: the row is the turn
	note string
}

// isFile reports whether the row is a file.
func (r row) isFile() bool { return r.step >= 0 && r.file >= 0 }

// A list has the turns with their files, oldest first. Until a row is selected, it is the first file of the last turn.
type list struct {
	rows          []row
	selected, top int
	wanted        place // is selected when the list is filled
}

// A place is a row of a session, which stays when the list grows.
type place struct {
	seq  uint64 // of the step; 0: none
	path projection.FilePath
}

// fill lists the steps of a session.
func (l *list) fill(r *filechanges.Reader) {
	last := 0
	for i, s := range r.Steps {
		l.rows = append(l.rows, row{step: i, file: -1})
		last = min(len(l.rows), len(l.rows)-1+len(s.Files))
		for j := range s.Files {
			l.rows = append(l.rows, row{step: i, file: j})
		}
	}
	for _, text := range r.Skipped() {
		l.rows = append(l.rows, row{step: -1, file: -1, note: text})
	}
	l.selected = last
	for i := range l.rows {
		if at := l.placeAt(r, i); at.seq > 0 && at == l.wanted {
			l.selected = i
		}
	}
}

// place returns the place of the selected row.
func (l *list) place(r *filechanges.Reader) place {
	if r == nil {
		return place{}
	}
	return l.placeAt(r, l.selected)
}

func (l *list) placeAt(r *filechanges.Reader, i int) place {
	of, ok := l.at(i)
	if !ok || of.step < 0 {
		return place{}
	}
	at := place{seq: r.Steps[of.step].Seq}
	if of.isFile() {
		at.path = r.Steps[of.step].Files[of.file].Path
	}
	return at
}

// at returns a row; false: there is none.
func (l *list) at(i int) (row, bool) {
	if i < 0 || i >= len(l.rows) {
		return row{}, false
	}
	return l.rows[i], true
}

// open selects the first file of a turn. It reports whether a file is selected.
func (l *list) open() bool {
	of, ok := l.at(l.selected)
	if next, is := l.at(l.selected + 1); ok && !of.isFile() && is && next.isFile() {
		l.selected, of = l.selected+1, next
	}
	return ok && of.isFile()
}

// nextFile selects the next file in a direction; false: there is none.
func (l *list) nextFile(by int) bool {
	for i := l.selected + by; ; i += by {
		of, ok := l.at(i)
		if !ok {
			return false
		}
		if of.isFile() {
			l.selected = i
			return true
		}
	}
}

// arrange keeps the selected row in the list and on the screen.
func (l *list) arrange(height int) {
	l.selected = max(min(l.selected, len(l.rows)-1), 0)
	l.top = max(min(l.top, l.selected), l.selected-height+1)
	l.top = max(min(l.top, len(l.rows)-height), 0)
}

// lines returns the rows that fit.
func (l *list) lines(r *filechanges.Reader, columns, height int, focused bool) (lines []ansi.Line) {
	for i := l.top; i < len(l.rows) && len(lines) < height; i++ {
		lead := ansi.Line{{Text: "  "}}
		if i == l.selected {
			mark := ansi.Style{Color: ansi.Cyan, Dim: !focused}
			lead = ansi.Line{{Text: "▸ ", Style: mark}}
		}
		of := l.rows[i]
		var line ansi.Line
		switch {
		case of.step < 0:
			line = ansi.Line{dimmed(of.note)}
		case of.isFile():
			line = fileLine(r.Steps[of.step].Files[of.file], columns-2, i == l.selected)
		default:
			line = turnLine(r, of.step)
		}
		lines = append(lines, ansi.Cut(append(lead, line...), columns))
	}
	return lines
}

// turnLine returns the row of a turn.
func turnLine(r *filechanges.Reader, step int) ansi.Line {
	s := r.Steps[step]
	line := ansi.Line{{Text: turnText(s.Turn, s.ByTurn), Style: ansi.Style{Bold: true}}}
	line = append(line, ansi.Span{Text: s.Who, Style: ansi.Style{Color: whoColor(s)}}, dimmed("  "+filesText(s)))
	if len(r.Dirs()) > 1 {
		line = append(line, dimmed("  "+tty.SafeLine(s.Dir)))
	}
	return line
}

func whoColor(s filechanges.Step) ansi.Color {
	if s.ByTurn {
		return ansi.Blue
	}
	return ansi.Yellow
}

// fileLine returns the row of a file: its path, and at the right what happened to it.
func fileLine(c projection.FileChange, columns int, selected bool) ansi.Line {
	const indent = "  "
	state := stateLine(c)
	room := max(columns-len(indent)-2-state.Columns(), 8)
	path := ansi.Span{Text: shortened(tty.SafeLine(string(c.Path)), room), Style: ansi.Style{Bold: selected}}
	name := ansi.Line{{Text: indent}, path}
	blanks := strings.Repeat(" ", max(columns-name.Columns()-state.Columns(), 2))
	return append(append(name, ansi.Span{Text: blanks}), state...)
}

// stateLine says what happened to a file.
func stateLine(c projection.FileChange) (line ansi.Line) {
	switch c.Kind {
	case projection.FileAdded:
		line = append(line, ansi.Span{Text: "new", Style: ansi.Style{Color: ansi.Green}})
	case projection.FileDeleted:
		line = append(line, ansi.Span{Text: "deleted", Style: ansi.Style{Color: ansi.Red}})
	case projection.FileMode, projection.FileType:
		return ansi.Line{dimmed(string(c.Kind))}
	}
	if c.Plus == nil || c.Minus == nil {
		return line
	}
	if len(line) > 0 {
		line = append(line, ansi.Span{Text: " "})
	}
	return append(line, ansi.Span{Text: fmt.Sprintf("+%d ", *c.Plus), Style: ansi.Style{Color: ansi.Green}},
		ansi.Span{Text: fmt.Sprintf("−%d", *c.Minus), Style: ansi.Style{Color: ansi.Red}})
}

// shortened returns the end of a path that is too long.
func shortened(path string, columns int) string {
	for ansi.Text(path, ansi.Style{}).Columns() > columns {
		_, rest, ok := strings.Cut(strings.TrimPrefix(path, "…/"), "/")
		if !ok {
			return path
		}
		path = "…/" + rest
	}
	return path
}

func dimmed(text string) ansi.Span {
	return ansi.Span{Text: text, Style: ansi.Style{Color: ansi.BrightBlack}}
}
