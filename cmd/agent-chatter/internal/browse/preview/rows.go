package preview

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

const (
	matchSign = "▸ "
	noSign    = "  "
)

// width returns the columns of the conversation: the others show which rows have a match.
func (p *Pane) width() int { return p.size.columns - ansi.Line{{Text: noSign}}.Columns() }

// height returns the rows of the conversation.
func (p *Pane) height() int { return p.size.rows - len(p.headRows()) }

// headRows returns the head and, unless the pane has few rows, a line below it.
func (p *Pane) headRows() []ansi.Line {
	lines := headLines(p.session, p.head, p.size.rows)
	switch {
	case len(lines) == 0 || p.last > 0:
		return nil
	case p.size.rows < wholeHead:
		return lines
	}
	rule := strings.Repeat("─", max(p.size.columns, 0))
	return append(lines, ansi.Line{{Text: rule, Style: dim}})
}

// Rows returns the rows of the pane: as many as it has, each at most as wide as it is.
func (p *Pane) Rows() []string {
	if p.size.rows <= 0 {
		return nil
	}
	var lines []ansi.Line
	if p.ctx != nil {
		lines = append(p.headRows(), p.conversation()...)
	}
	rows := make([]string, p.size.rows)
	for i, line := range lines[:min(len(lines), len(rows))] {
		if p.size.columns > 0 {
			rows[i] = p.profile.Encode(ansi.Cut(line, p.size.columns))
		}
	}
	return rows
}

// conversation returns the rows below the head.
func (p *Pane) conversation() []ansi.Line {
	if p.place != nil && len(p.parts) == 0 {
		return []ansi.Line{{{Text: noSign + "Loading …", Style: dim}}}
	}
	if p.place == nil && p.document.rows() == 0 {
		text := "Nothing was said."
		if !p.started {
			text = "The last events show nothing; scroll up for earlier ones."
		}
		return []ansi.Line{{{Text: noSign + text, Style: dim}}}
	}
	top := min(p.top, p.lastTop())
	rows := p.between(top, top+p.height())
	lead := min(top, 1) // a match may begin in the row before
	marks := p.marks(top-lead, top+len(rows)+1)
	var lines []ansi.Line
	for i, r := range rows {
		sign := noSign
		var of []mark
		if i+lead < len(marks) {
			of = marks[i+lead]
		}
		if len(of) > 0 {
			sign = matchSign
		}
		lines = append(lines, slices.Concat(ansi.Line{{Text: sign}}, marked(r.line, of)))
	}
	return lines
}
