package chat

import (
	"fmt"
	"strings"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// offerQuestion is asked when a team with an earlier session is deployed.
func offerQuestion(r projection.Row, now time.Time) string {
	return fmt.Sprintf("Found previous session (%s, %s)\n  %s\n[R] Resume  [N] Start New",
		app.LongAge(r.UpdatedAt, now), app.Count(r.MessageCount, "message"), tty.SafeLine(r.Summary()))
}

// offerList lists sessions to resume. It truncates titles so that each session fits on a
// line of a terminal; columns is 0 for no limit.
func offerList(found []catalog.Session, now time.Time, columns int) string {
	short := catalog.ShortIDs(found)
	var b strings.Builder
	b.WriteString("Recent Sessions:\n")
	for i, s := range found {
		prefix := fmt.Sprintf("  %d. [%s] ", i+1, short[s.ID])
		suffix := fmt.Sprintf(" (%s)", app.Age(s.UpdatedAt, now))
		title := tty.SafeLine(s.Title)
		if columns > 0 {
			width := columns - 1 - displaywidth.String(prefix+suffix)
			title = displaywidth.TruncateString(title, max(width, tty.LeastShown), "…")
		}
		b.WriteString(prefix + title + suffix + "\n")
	}
	b.WriteString("Enter number or session ID to resume (or press Enter to cancel):")
	return b.String()
}
