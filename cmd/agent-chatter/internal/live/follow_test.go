package live

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// Devices get what is queued with each change, so it is short.
func TestShownQueue(t *testing.T) {
	c := New(nil)
	c.ShowQueue([]tty.Line{{ID: "1", Text: strings.Repeat("ü", 1<<20)}, {ID: "2", Text: "short"}})
	for u := range c.Watch(t.Context()) {
		queue := u.State.Queue
		if len(queue) != 2 || len(queue[0].Text) > shownQueued+3 || !utf8.ValidString(queue[0].Text) || queue[1].Text != "short" {
			t.Errorf("%d bytes are shown of the first, and %q", len(queue[0].Text), queue[1].Text)
		}
		return
	}
}
