package recall

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A text is the text of a result. Everything that a session says is in a quotation.
type text struct{ strings.Builder }

// newText returns a text that begins with the notice.
func newText() *text {
	t := &text{}
	t.WriteString(quoteNotice + "\n")
	return t
}

// say adds a line of the program, after an empty one.
func (t *text) say(format string, args ...any) { fmt.Fprintf(t, "\n"+format+"\n", args...) }

// end adds the problems, and how to continue.
func (t *text) end(problems []string, next, tool string) string {
	for _, p := range problems {
		t.say("Problem: %s", p)
	}
	if next != "" {
		t.say("There is more. Call %s with the same arguments and cursor: %s", tool, next)
	}
	return t.String()
}

// cite returns the citation of an event.
func cite(id string, seq uint64) string { return fmt.Sprintf("%s#%d", id, seq) }

// timeText returns a time, or "" if it is unknown.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return projection.FormatTime(t)
}

// maxProblems is the number of damaged sessions that a result names.
const maxProblems = 20

// damage returns a problem with what is known of its cause, which may repeat what a file says.
func damage(said string, cause error) string {
	return said + "\n" + quotedLine(short(cause.Error(), 300))
}

// short cuts a text to a number of bytes, and marks the cut.
func short(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return runecut.Prefix(text, most) + "…"
}
