package console

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

func TestAPersonWhoLooksElsewhere(t *testing.T) {
	long := noon.Add(awayTime + time.Second)
	for _, tt := range []struct {
		name   string
		events []tty.Event
		now    time.Time
		away   bool
	}{
		{"a key", []tty.Event{key('x', 0)}, noon, false},
		{"a key long ago", []tty.Event{key('x', 0)}, long, true},
		{"a focus long ago", []tty.Event{tty.Focus{In: true}}, long, false},
		{"a focus elsewhere", []tty.Event{key('x', 0), tty.Focus{}}, noon, true},
		{"back again", []tty.Event{tty.Focus{}, tty.Focus{In: true}}, long, false},
	} {
		var a attention
		for _, e := range tt.events {
			a.see(e, noon)
		}
		if got := a.isAway(tt.now); got != tt.away {
			t.Errorf("%s: away is %v", tt.name, got)
		}
	}
}

func TestTitleText(t *testing.T) {
	for _, tt := range []struct {
		name    string
		prepare func(c *Console)
		want    string
	}{
		{"at first", func(*Console) {}, "Calculator"},
		{"a turn", func(c *Console) { c.escape = func(string) {} }, "● Calculator"},
		{"after it", func(c *Console) { c.attention.worked = true }, "✓ Calculator"},
		{"a question", func(c *Console) {
			c.escape, c.model.Question = func(string) {}, &Question{Choices: permission, Asks: "Ada asks"}
		}, "? Ada asks"},
	} {
		c := newConsole()
		c.model.Status.Facts = []string{"Calculator", "2 messages"}
		if tt.prepare(c); c.titleText() != tt.want {
			t.Errorf("%s: the title is %q", tt.name, c.titleText())
		}
	}
}
