package preview

import (
	"context"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A head is what is read of a session besides its conversation.
type head struct {
	members []projection.Member
	writer  journal.Holder // zero: none
}

// read reads the members, unless they are known, and the writer.
func (h *head) read(ctx context.Context, r *journal.Reader, dir *catalog.Dir, id string) {
	h.writer = dir.Journals().Writer(id)
	if h.members != nil {
		return
	}
	first := conversation.Until(ctx, r.ScanAfter(journal.Position{}))
	h.members, _ = conversation.Team(projection.Decoded(first))
}

// live reports whether a process may append to the session.
func (h head) live() bool { return h.writer.PID != 0 }

// The least rows of a pane with a head of one row and with one of all.
const (
	smallHead = 6
	wholeHead = 12
)

var dim = ansi.Style{Dim: true}

// headLines returns the head of a session for a pane of so many rows: none if it has few.
func headLines(s catalog.Session, h head, rows int) []ansi.Line {
	if rows < smallHead {
		return nil
	}
	title := ansi.Line{{Text: clip(s.Title), Style: ansi.Style{Bold: true}}}
	switch {
	case s.Title == "" && s.ReadErr != nil:
		title[0].Text = s.ID
	case s.Title == "":
		title[0] = ansi.Span{Text: "(no title)", Style: dim}
	}
	if rows < wholeHead {
		return []ansi.Line{append(title, marks(s, h)...)}
	}
	lines := []ansi.Line{title}
	if !s.UpdatedAt.IsZero() { // otherwise only the id is known
		messages := times(s) + " · " + app.Count(s.MessageCount, "message")
		lines = append(lines, membersLine(s, h), ansi.Line{{Text: messages}})
	}
	if s.CWD != "" {
		lines = append(lines, ansi.Line{{Text: clip(s.CWD), Style: dim}})
	}
	if marks := marks(s, h); marks != nil {
		lines = append(lines, marks[1:])
	}
	return lines
}

// The bounds of what is laid out for one row.
const (
	maxNames = 50
	maxText  = 1000 // bytes
)

func clip(text string) string { return runecut.Prefix(text, maxText) }

// membersLine returns the team and the names of its members in their colours.
func membersLine(s catalog.Session, h head) ansi.Line {
	line := ansi.Line{{Text: clip(s.TeamID)}}
	var members view.Members
	members.AddMembers(h.members)
	separator := ": "
	for _, m := range h.members[:min(len(h.members), maxNames)] {
		name := ansi.Span{Text: clip(m.DisplayName), Style: ansi.Style{Color: members.Color(m.ID)}}
		line = append(line, ansi.Span{Text: separator}, name)
		separator = ", "
	}
	return line
}

// times returns when a session was created and, unless it was the same minute, updated.
func times(s catalog.Session) string {
	text := func(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
	switch created, updated := text(s.CreatedAt), text(s.UpdatedAt); {
	case s.CreatedAt.IsZero(), created == updated:
		return updated
	default:
		return created + " – " + updated
	}
}

// marks returns what is unusual about a session, after a separator; nil: nothing.
func marks(s catalog.Session, h head) ansi.Line {
	var words []string
	if s.Pinned {
		words = append(words, "pinned")
	}
	if s.Archived {
		words = append(words, "archived")
	}
	if s.Remote {
		words = append(words, "on the hub")
	}
	if s.ClaimedBy != "" {
		words = append(words, "live on "+s.ClaimedBy)
	}
	if h.live() {
		words = append(words, "locked by "+h.writer.String())
	}
	line := ansi.Line{}
	add := func(text string, style ansi.Style) {
		line = append(line, ansi.Span{Text: " · ", Style: dim}, ansi.Span{Text: text, Style: style})
	}
	if len(words) > 0 {
		add(strings.Join(words, " · "), ansi.Style{Color: ansi.Cyan})
	}
	red := ansi.Style{Color: ansi.Red}
	switch {
	case s.ReadErr != nil:
		add("unreadable", red)
	case s.Damaged != "":
		add("damaged", red)
	case s.Newer != "":
		add("of a newer version", red)
	case s.Invalid > 0:
		add(app.Count(s.Invalid, "invalid event"), red)
	}
	if s.Truncated {
		add("truncated", red)
	}
	if len(line) == 0 {
		return nil
	}
	return line
}
