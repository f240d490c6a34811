package turns

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

const headerRows = 1

// Lines returns the header and the rows as they are now, at most as many as fit.
func (l *List) Lines() []ansi.Line {
	lines := []ansi.Line{layoutOf(l.columns).header(l.place(), l.columns)}
	last := min(l.top+l.height(), l.index.rows())
	for i := l.top; i < last; i++ {
		r, ok := l.row(i)
		if !ok {
			lines = append(lines, ansi.Line{dimmed("    …")})
			continue
		}
		lines = append(lines, rowLine(r, l.members.Color(r.Member.ID), l.Focused && i == l.selected, l.columns))
	}
	if l.index.rows() <= l.index.from && l.problem == "" {
		lines = append(lines, ansi.Line{dimmed("    " + l.emptyText())})
	}
	lines = append(lines, l.problemLines()...)
	return lines[:min(len(lines), max(l.rows, 0))]
}

// emptyText says why there are no rows.
func (l *List) emptyText() string {
	switch {
	case l.ctx == nil:
		return ""
	case !l.index.complete:
		return "Reading …"
	case l.index.after > 0:
		return "Nothing follows."
	}
	return "The session has no messages."
}

// place says which row is selected, and how far reading has come.
func (l *List) place() string {
	rows := l.index.rows() - l.index.from
	text := ""
	if rows > 0 {
		text = fmt.Sprintf("%d of %d", l.selected-l.index.from+1, rows)
	}
	if end := l.session.End.Offset; l.reading && end > 0 {
		text = strings.TrimSpace(fmt.Sprintf("%s %d%%", text, min(100*l.index.at.Offset/end, 100)))
	}
	return text
}

// problemLines say why the rest of the session cannot be read, below the rows.
func (l *List) problemLines() (lines []ansi.Line) {
	text := l.problem
	if t := l.index.torn; text == "" && t.Bytes > 0 {
		text = view.TornText(l.session.ID, t)
	}
	if text == "" {
		return nil
	}
	for text := range strings.SplitSeq(tty.Safe(text), "\n") {
		lines = append(lines, ansi.Wrap(ansi.Line{{Text: text, Style: ansi.Style{Color: ansi.Yellow}}}, l.columns)...)
	}
	return lines[:min(len(lines), max(l.rows/2, 0))]
}

// Encode encodes lines of at most so many columns, as exactly so many rows.
func Encode(lines []ansi.Line, p ansi.Profile, columns, rows int) []string {
	encoded := make([]string, rows)
	for i, line := range lines[:min(len(lines), rows)] {
		encoded[i] = p.Encode(ansi.Cut(line, columns))
	}
	return encoded
}
