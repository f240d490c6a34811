package sessions

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/agent-chatter/agent-chatter/projection/search"
)

// A hitPrinter prints hits on a terminal, each session's after a heading.
type hitPrinter struct {
	app   *app.App
	out   io.Writer
	style view.Style
	now   time.Time

	session string       // of the last hit
	members view.Members // of that session
}

const (
	hitIndent = "  "
	maxName   = 16 // columns of the name of a speaker, fewer on a narrow terminal
)

var match = ansi.Style{Bold: true, Color: ansi.Yellow}

// print prints a hit of a session with a short id.
func (p *hitPrinter) print(ctx context.Context, h search.Hit, short string) error {
	columns := p.style.Width - 1
	var lines []ansi.Line
	if h.Session.ID != p.session {
		if p.session != "" {
			lines = append(lines, nil)
		}
		p.session, p.members = h.Session.ID, membersOf(ctx, p.app.Catalog.At(h.Session.Dir()), h.Session.ID)
		lines = append(lines, p.heading(h.Session, columns))
	}
	// The texts of a session begin in the same column, however long their seqs are.
	width := len(short) + len(fmt.Sprintf("#%d", h.Session.LastSeq))
	line := ansi.Line{
		{Text: hitIndent}, {Text: fmt.Sprintf("%-*s", width, fmt.Sprintf("%s#%d", short, h.Seq)), Style: literal},
		{Text: "  "},
	}
	name := ansi.Span{
		Text:  h.Speaker.DisplayName,
		Style: ansi.Style{Bold: true, Color: p.members.Color(h.Speaker.ID)},
	}
	line = append(append(line, ansi.Cut(ansi.Line{name}, min(columns/5, maxName))...), ansi.Span{Text: "  "})
	line = append(line, excerpt(h, max(columns-line.Columns(), tty.LeastShown))...)
	for _, line := range append(lines, line) {
		if _, err := fmt.Fprintln(p.out, p.style.Profile.Encode(line)); err != nil {
			return err
		}
	}
	return nil
}

// heading returns the title of a session, and its team and its age as far as there is room.
func (p *hitPrinter) heading(s catalog.Session, columns int) ansi.Line {
	about := ansi.Line{{Text: "  " + s.TeamID + " · " + app.Age(s.UpdatedAt, p.now), Style: dim}}
	title := ansi.Line{{Text: s.Title, Style: ansi.Style{Bold: true}}}
	room := columns - about.Columns()
	if room < 2*tty.LeastShown {
		return ansi.Cut(title, columns)
	}
	return append(ansi.Cut(title, room), about...)
}

// membersOf returns the members of a session, as far as its journal can be read.
func membersOf(ctx context.Context, dir *catalog.Dir, id string) view.Members {
	reader, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil
	}
	defer reader.Close()
	var t view.Transcript
	for e, err := range reader.All() {
		if err == nil && ctx.Err() == nil {
			t.Apply(projection.DecodeEvent(e))
		}
		break
	}
	return t.Members
}

// maxExcerpt limits how much of a match, and of the text after it, is looked at, in bytes.
const maxExcerpt = 1 << 12

// excerpt cuts the line of a hit to a width in columns, so that the first match is shown: whole, unless it is wider.
// What precedes it takes at most a third of the width, or what the text after it leaves. All matches are highlighted.
func excerpt(h search.Hit, columns int) ansi.Line {
	before := strings.TrimLeft(tty.SafeLine(h.Line[:h.Start]), " ")
	found := ansi.Span{Text: tty.SafeLine(runecut.Prefix(h.Line[h.Start:h.End], maxExcerpt)), Style: match}
	tail := ansi.Line{found}
	after, at := runecut.Prefix(h.Line[h.End:], maxExcerpt), 0
	for _, place := range h.Matches(after) {
		tail = append(tail, ansi.Span{Text: tty.SafeLine(after[at:place[0]])},
			ansi.Span{Text: tty.SafeLine(after[place[0]:place[1]]), Style: match})
		at = place[1]
	}
	tail = append(tail, ansi.Span{Text: tty.SafeLine(after[at:])})
	width, wanted := displaywidth.String(before), tail.Columns()
	if width+wanted <= columns {
		return append(ansi.Line{{Text: before}}, tail...)
	}
	limit := max(min(columns/3, columns-2-ansi.Line{found}.Columns()), columns-1-wanted, 0)
	if width <= limit {
		return ansi.Cut(append(ansi.Line{{Text: before}}, tail...), columns)
	}
	graphemes := displaywidth.StringGraphemes(before)
	for width > limit && graphemes.Next() {
		width -= graphemes.Width()
		before = before[len(graphemes.Value()):]
	}
	before = strings.TrimLeft(before, " ")
	return append(ansi.Line{{Text: "…"}}, ansi.Cut(append(ansi.Line{{Text: before}}, tail...), columns-1)...)
}
