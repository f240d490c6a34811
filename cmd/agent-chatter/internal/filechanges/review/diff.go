package review

import (
	"context"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// A diff shows what differs in a file.
type diff struct {
	of      row
	shown   bool   // of is to be shown
	problem string // why it cannot be read
	content *filechanges.FileDiff

	width, height int // of the lines
	lines         []ansi.Line
	starts        []int // the lines of the heads of hunks
	top           int
	hunk          int  // the current one
	last          bool // begin with the last hunk
}

// diffMsg is a file that was read.
type diffMsg struct {
	ctx  context.Context
	of   row
	diff filechanges.FileDiff
	err  error
}

// follow reads the selected file, if another one is shown.
func (p *Pane) follow() tea.Cmd {
	of, ok := p.list.at(p.list.selected)
	if !ok || p.reader == nil || p.diff.shown && of == p.diff.of {
		return nil
	}
	p.diff = diff{of: of, shown: true, last: p.diff.last, width: p.diff.width, height: p.diff.height}
	if !of.isFile() {
		return nil
	}
	ctx, r := p.ctx, p.reader
	return func() tea.Msg {
		d, err := r.Diff(of.step, string(r.Steps[of.step].Files[of.file].Path), nil)
		return diffMsg{ctx, of, d, err}
	}
}

// takeDiff takes a file that was read.
func (p *Pane) takeDiff(msg diffMsg) {
	if msg.err != nil {
		p.diff.problem = p.app.Render(app.Explain(msg.err))
		return
	}
	p.diff.content = &msg.diff
	p.diff.layOut(p.profile)
	if p.diff.last {
		p.diff.last = false
		p.diff.show(len(p.diff.starts) - 1)
	}
}

// resize lays the lines out in another size. The current hunk stays in view.
func (d *diff) resize(columns, rows int, profile ansi.Profile) {
	d.height = rows
	if d.width != columns {
		d.width = columns
		d.layOut(profile)
		d.show(d.hunk)
	}
	d.scroll(0)
}

// layOut makes the lines.
func (d *diff) layOut(profile ansi.Profile) {
	d.lines, d.starts = nil, nil
	if d.content == nil || d.width <= 0 {
		return
	}
	for _, note := range d.content.Notes {
		d.lines = append(d.lines, wrapped(note, d.width, ansi.Style{Color: ansi.Yellow})...)
	}
	style := view.Style{Width: d.width + 1, Profile: profile, Whole: true}
	for _, h := range d.content.Hunks {
		d.starts = append(d.starts, len(d.lines))
		d.lines = append(d.lines, nil) // the head
		if d.content.Parts && d.width >= view.BesideColumns {
			d.lines = append(d.lines, view.BesideLines(h, style)...)
		} else {
			d.lines = append(d.lines, view.DiffLines([]view.Hunk{h}, style)...)
		}
	}
}

// show makes a hunk the current one.
func (d *diff) show(hunk int) {
	if d.hunk = max(min(hunk, len(d.starts)-1), 0); len(d.starts) > 0 {
		d.top = d.starts[d.hunk]
	}
	d.bound()
}

// step goes to the next hunk in a direction; false: there is none.
func (d *diff) step(by int) bool {
	if next := d.hunk + by; next >= 0 && next < len(d.starts) {
		d.show(next)
		return true
	}
	return false
}

// scroll scrolls by lines. The current hunk is one in view.
func (d *diff) scroll(by int) {
	d.top += by
	d.bound()
	if by == 0 {
		return
	}
	for i, start := range d.starts {
		end := len(d.lines)
		if i+1 < len(d.starts) {
			end = d.starts[i+1]
		}
		if end > d.top && (start >= d.top || end-d.top > d.height/2) || i == len(d.starts)-1 {
			d.hunk = i
			return
		}
	}
}

func (d *diff) bound() { d.top = max(min(d.top, len(d.lines)-d.height), 0) }

// visible returns the lines that fit, with the heads of hunks.
func (d *diff) visible(focused bool) []ansi.Line {
	lines := append([]ansi.Line(nil), d.lines[d.top:min(d.top+d.height, len(d.lines))]...)
	for i, start := range d.starts {
		if at := start - d.top; at >= 0 && at < len(lines) {
			lines[at] = d.head(i, focused)
		}
	}
	return lines
}

// head is the line above a hunk.
func (d *diff) head(i int, focused bool) ansi.Line {
	mark, style := "  ", ansi.Style{Color: ansi.BrightBlack}
	if i == d.hunk && focused {
		mark, style = "▸ ", ansi.Style{Color: ansi.Cyan}
	}
	text := mark + hunkText(i, len(d.starts), d.content.Hunks[i].New)
	line := ansi.Cut(ansi.Line{{Text: text, Style: style}}, d.width)
	rule := strings.Repeat("─", max(d.width-line.Columns()-1, 0))
	return append(line, ansi.Span{Text: " " + rule, Style: style})
}

// wrapped returns a text in lines of so many columns.
func wrapped(text string, columns int, style ansi.Style) (lines []ansi.Line) {
	for paragraph := range strings.SplitSeq(text, "\n") {
		lines = append(lines, ansi.Wrap(ansi.Line{{Text: paragraph, Style: style}}, max(columns, 1))...)
	}
	return lines
}
