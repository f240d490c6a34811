package turns

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const (
	printedRows = 40   // on a terminal, the newest ones
	pipeColumns = 1000 // more than a row has
)

// Print prints the rows of a session: on a terminal the newest ones cut to its width, otherwise all. Errors: that of
// reading, after the rows before it were printed; that of out; that of ctx.
func Print(ctx context.Context, a *app.App, out io.Writer, s catalog.Session) error {
	p := printer{out: bufio.NewWriter(out), columns: pipeColumns, profile: ansi.NoColor}
	if tty.IsTerminal(out) {
		style := view.StyleOn(a, out)
		p.columns, p.profile, p.most = style.Width-1, style.Profile, printedRows
	}
	return p.print(ctx, a.Catalog.At(s.Dir()), s.ID)
}

// print is Print of a session in a directory.
func (p *printer) print(ctx context.Context, dir *catalog.Dir, id string) error {
	p.line(layoutOf(p.columns).header("", p.columns))
	ix := index{timeline: &projection.Timeline{}}
	var unread error
	for e, err := range dir.Events(ctx, id) {
		if err != nil {
			unread = err
			break
		}
		ix.add(e)
		if ix.timeline.Final() >= pageRows {
			p.add(&ix, ix.timeline.Final())
			ix.timeline.Forget()
		}
	}
	p.add(&ix, len(ix.timeline.Rows))
	if p.older > 0 {
		p.line(dim(fmt.Sprintf("    … %s before", app.Count(p.older, "row"))))
	}
	for _, r := range p.kept {
		p.row(&ix, r)
	}
	if err := p.out.Flush(); err != nil {
		return err
	}
	return unread
}

// A printer prints rows, or with most the newest ones of them at the end.
type printer struct {
	out     *bufio.Writer
	columns int
	profile ansi.Profile
	most    int // 0: all
	kept    []projection.TimelineRow
	older   int // rows before them
}

// add adds the first n rows of a timeline.
func (p *printer) add(ix *index, n int) {
	for _, r := range ix.timeline.Rows[:n] {
		if p.most == 0 {
			p.row(ix, r)
			continue
		}
		p.kept = append(p.kept, r)
		if over := len(p.kept) - p.most; over > 0 {
			p.kept, p.older = p.kept[over:], p.older+over
		}
	}
}

func (p *printer) row(ix *index, r projection.TimelineRow) {
	var members view.Transcript
	members.AddMembers(ix.members)
	p.line(rowLine(r, members.Color(r.Member.ID), false, p.columns))
}

// line prints a line. Flush returns its error.
func (p *printer) line(line ansi.Line) { fmt.Fprintln(p.out, p.profile.Encode(line)) }
