package live

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// Devices get what is queued with each change, so it is short.
func TestShownQueue(t *testing.T) {
	c := New(nil)
	lines := []tty.Line{{ID: "1", Text: strings.Repeat("ü", 1<<20)}, {ID: "2", Text: "short"}}
	c.ShowQueue(func() []tty.Line { return lines })
	for u := range c.Watch(t.Context()) {
		queue := u.State.Queue
		if len(queue) != 2 || len(queue[0].Text) > shownQueued+3 || !utf8.ValidString(queue[0].Text) || queue[1].Text != "short" {
			t.Errorf("%d bytes are shown of the first, and %q", len(queue[0].Text), queue[1].Text)
		}
		return
	}
}

// A line that has left the queue is not shown in it, though the goroutine that entered it may say so late.
func TestQueueIsShownAsItIs(t *testing.T) {
	c := New(nil)
	var q *Queue
	q = NewQueue(func() {
		c.ShowQueue(func() []tty.Line {
			lines := q.Queued()
			runtime.Gosched() // to the goroutine that takes the line
			return lines
		})
	}, c.Return)
	for range 2000 {
		var entering sync.WaitGroup
		entering.Go(func() {
			if err := q.Enter(tty.Line{ID: "1", Text: "hello"}); err != nil {
				t.Error(err)
			}
		})
		if _, err := q.Next(nil); err != nil {
			t.Fatal(err)
		}
		entering.Wait()
		for u := range c.Watch(t.Context()) {
			if len(u.State.Queue) > 0 {
				t.Fatalf("the queue is empty, and is shown as %+v", u.State.Queue)
			}
			break
		}
	}
}
