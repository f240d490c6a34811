package chat

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// queueText lists the queued replies, the next one first, and the last changes of the queue.
func queueText(waiting []coordinator.Queued, changes []projection.QueueChange) string {
	var b strings.Builder
	if len(waiting) == 0 {
		b.WriteString("Queue empty; your turn.\n")
	} else {
		b.WriteString("Queue:\n")
	}
	for i, q := range waiting {
		fmt.Fprintf(&b, "  %d. %s, %s %s",
			i+1, tty.SafeLine(q.Member.Name), intentText(q.Intent), tty.SafeLine(q.AskedBy))
		if preview := tty.SafeLine(queuedPreview(q.Text)); preview != "" {
			b.WriteString(": " + preview)
		}
		b.WriteString("\n")
	}
	if len(changes) > 0 {
		b.WriteString("Changes since your last message:\n")
	}
	for _, c := range changes {
		fmt.Fprintf(&b, "  %s %s: %s\n",
			tty.SafeLine(c.MemberID), tty.SafeLine(string(c.Action)), tty.SafeLine(c.Reason))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func intentText(i marker.Intent) string {
	switch i {
	case marker.Interrupt:
		return "interrupts (P1)"
	case marker.Extend:
		return "adds to (P3)"
	}
	return "replies to"
}

// queuedPreview returns the first 50 characters of a message.
func queuedPreview(text string) string {
	const limit = 50
	if r := []rune(text[:min(len(text), 4*limit+4)]); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return text
}
