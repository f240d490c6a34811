package browse

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse/find"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/changes"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/clipperhouse/displaywidth"
)

const (
	teamColumns  = 60 // from here on a row names the team, also one that says where the session is
	leastTeam    = 8
	mostTeam     = 16
	countColumns = 5
	ageColumns   = 5
)

// listLines are the lines of the sessions on the screen, or of why there are none.
func (m *model) listLines(columns int) (lines []ansi.Line) {
	if len(m.list.shown) == 0 {
		return m.emptyLines(columns)
	}
	for i := range m.list.visible() {
		i += m.list.top
		s := m.list.row(i)
		lines = append(lines, m.rowLine(s, i == m.list.selected, columns))
		if m.finder.Text != "" {
			lines = append(lines, m.hitLine(s))
		}
	}
	return lines
}

// emptyLines say why the list is empty.
func (m *model) emptyLines(columns int) []ansi.Line {
	text := ""
	switch {
	case !m.listed:
	case m.problem != "":
		text = m.problem
	case m.finder.Text != "" && !m.finder.Ended():
		text = "Searching …"
	case m.finder.Text != "":
		text = "No session has this text."
	case m.filter.Restricts():
		text = "No session matches the filter. Esc removes it."
	default:
		text = "There are no sessions yet. Start one: agent-chatter chat"
	}
	var lines []ansi.Line
	for _, line := range ansi.Wrap(ansi.Line{dim(text)}, max(columns-4, 10)) {
		lines = append(lines, append(ansi.Line{plain("  ")}, line...))
	}
	return lines
}

// rowLine is the line of a session: what state it is in, its title, its team, how many messages it has, and its age.
func (m *model) rowLine(s catalog.Session, selected bool, columns int) ansi.Line {
	line := ansi.Line{plain("  ")}
	if selected {
		line = ansi.Line{accent("▸ ")}
	}
	line = append(line, m.sign(s), plain(" "))
	tail := dimLine(fmt.Sprintf("%*d%*s ", countColumns, s.MessageCount, ageColumns, age(s.UpdatedAt, m.now())))
	where := m.whereLine(s)
	if columns >= teamColumns || columns >= leastList && where == nil {
		width := min(max(columns/8, leastTeam), mostTeam)
		team := displaywidth.TruncateString(tty.SafeLine(s.TeamID), width, "…")
		tail = append(dimLine(" "+team+strings.Repeat(" ", width-displaywidth.String(team))), tail...)
	}
	if origin := originText(s); origin != "" {
		tail = append(dimLine(" "+displaywidth.TruncateString(origin, leastTeam, "…")), tail...)
	}
	if where != nil {
		tail = slices.Concat(dimLine(" "), ansi.Cut(where, max(columns/3, tty.LeastShown)), tail)
	}
	width := max(columns-line.Columns()-tail.Columns(), tty.LeastShown)
	title := ansi.Cut(highlighted(titleOf(s), m.finder.Text, ansi.Style{Bold: selected}), width)
	line = append(line, title...)
	line = append(line, plain(strings.Repeat(" ", max(width-title.Columns(), 0))))
	return append(line, tail...)
}

// originText tells a copy from its original: it has the session that is copied, or says that the session was imported
// or merged, unless its team has the name of the program that it is from; "" if it began here.
func originText(s catalog.Session) string {
	switch {
	case s.Parent != "":
		return "← " + tty.SafeLine(s.Parent[max(0, len(s.Parent)-shownID):])
	case s.Imported == "merge":
		return "← merge"
	case s.Imported != "" && s.Imported != s.TeamID:
		return "← import"
	}
	return ""
}

// shownID is how many characters of an id a row shows, of its end.
const shownID = 4

func dimLine(text string) ansi.Line { return ansi.Line{dim(text)} }

// titleOf returns the title of a session, or what stands for it.
func titleOf(s catalog.Session) string {
	if title := strings.TrimSpace(tty.SafeLine(s.Title)); title != "" {
		return title
	}
	if s.Damaged != "" {
		return s.ID
	}
	return "(no messages)"
}

// sign is the column that shows the state of a session.
func (m *model) sign(s catalog.Session) ansi.Span {
	key := s.Key()
	for _, k := range m.list.marked {
		if k == key {
			return colored("◆", ansi.Magenta)
		}
	}
	switch _, fetching := m.fetcher.running[key]; {
	case fetching:
		return accent("↓")
	case s.ReadErr != nil || s.Damaged != "":
		return colored("✗", ansi.Red)
	case s.Invalid > 0 || s.Truncated || s.Newer != "":
		return colored("⚠", ansi.Yellow)
	case m.list.live[key] != (journal.Holder{}), s.ClaimedBy != "":
		return colored("●", ansi.Green)
	case s.Remote:
		return dim("○")
	case s.Pinned:
		return colored("★", ansi.Yellow)
	case s.Archived:
		return dim("▪")
	}
	return plain(" ")
}

// hitLine is the line below a session with the first message that was found.
func (m *model) hitLine(s catalog.Session) ansi.Line {
	one := m.finder.Found[s.Key()]
	line := ansi.Line{plain("    ")}
	switch {
	case one == nil:
		return line
	case one.Hits == 0:
		return append(line, dim(tty.SafeLine(s.TeamID+"  "+s.CWD)))
	case one.Hits > 1:
		line = append(line, dim(fmt.Sprintf("%d× ", one.Hits)))
	}
	speaker := tty.SafeLine(one.First.Speaker)
	line = append(line, dim(speaker+": "))
	return append(line, hitSpans(one.First.Line, one.First.Start, one.First.End)...)
}

// hitSpans is a line of a message around what was found in it.
func hitSpans(text string, start, end int) ansi.Line {
	const before = 20
	from := start
	for n := 0; from > 0 && n < before; from-- {
		if text[from]&0xC0 != 0x80 {
			n++
		}
	}
	for from > 0 && text[from]&0xC0 == 0x80 {
		from--
	}
	line := ansi.Line{dim(tty.SafeLine(text[from:start]))}
	if from > 0 {
		line = append(ansi.Line{dim("…")}, line...)
	}
	return append(line, match(tty.SafeLine(text[start:end]), ansi.Style{}), dim(tty.SafeLine(text[end:])))
}

// match is a text that was searched for.
func match(text string, s ansi.Style) ansi.Span {
	s.Color, s.Bold, s.Underline = ansi.Yellow, true, true
	return ansi.Span{Text: text, Style: s}
}

// highlighted returns a text whose parts that match what was searched for are highlighted.
func highlighted(text, searched string, s ansi.Style) (line ansi.Line) {
	if searched == "" {
		return ansi.Line{{Text: text, Style: s}}
	}
	at := 0
	for _, found := range find.Matcher(searched)(text) {
		line = append(line, ansi.Span{Text: text[at:found[0]], Style: s}, match(text[found[0]:found[1]], s))
		at = found[1]
	}
	return append(line, ansi.Span{Text: text[at:], Style: s})
}

// age is the time since t as a column shows it; "-": t is unknown.
func age(t, now time.Time) string {
	if t.IsZero() {
		return "-"
	}
	if n, unit := app.Elapsed(t, now); n > 0 {
		return fmt.Sprintf("%d%c", n, unit[0])
	}
	return "now"
}

// notResumable says why a session cannot be resumed; "" if it can.
func (m *model) notResumable(s catalog.Session) string {
	holder := m.list.live[s.Key()]
	if m.away(s) {
		holder = journal.Holder{} // it is fetched here
	}
	switch {
	case s.Key() == m.running:
		return "This session is already open in this chat."
	case s.ReadErr != nil:
		return "The session cannot be read. Type agent-chatter doctor"
	case s.Damaged != "":
		return "The session is damaged. Type agent-chatter verify " + s.ID
	case s.Newer != "":
		return "A newer version of the program wrote this session. It can be read, not resumed."
	case holder != (journal.Holder{}):
		return "The session is open in " + tty.SafeLine(holder.String()) + ". Type agent-chatter chat --follow " + s.ID
	case s.ClaimedBy != "":
		return m.app.Render(changes.LiveElsewhereText(s.ID, s.ClaimedBy))
	}
	return ""
}
