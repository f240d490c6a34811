package live_test

import (
	"errors"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"
)

// Whatever happens, each line that was entered leaves the queue once, in order: it is sent, taken back or returned.
func TestEachLineLeavesOnce(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		entered, left := map[string]int{}, map[string]int{}
		leave := func(lines ...tty.Line) {
			for _, l := range lines {
				left[l.ID]++
			}
		}
		q := live.NewQueue(func() {}, func(lines []tty.Line) { leave(lines...) })
		last := -1 // the number of the last line that was sent
		for i := range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "step") {
			case 0, 1, 2:
				id := string(rune('A' + i))
				if err := q.Enter(tty.Line{ID: id, Text: id}); err != nil {
					t.Fatal(err)
				}
				entered[id]++
			case 3:
				if lines := q.Queued(); len(lines) > 0 {
					id := lines[rapid.IntRange(0, len(lines)-1).Draw(t, "taken back")].ID
					if l, ok := q.TakeBack(id); ok {
						leave(l)
					}
				}
			case 4:
				q.Cancel()
			case 5:
				if len(q.Queued()) > 0 {
					l, err := q.Next(nil)
					if err != nil {
						t.Fatal(err)
					}
					if n := int([]rune(l.ID)[0]); n <= last {
						t.Fatalf("%s comes after %c", l.ID, rune(last))
					} else {
						last = n
					}
					leave(l)
				}
			}
		}
		leave(q.Queued()...)
		for id := range entered {
			if left[id] != 1 {
				t.Errorf("%s left %d times", id, left[id])
			}
		}
	})
}

func TestQueueIsBounded(t *testing.T) {
	q := live.NewQueue(func() {}, func([]tty.Line) {})
	for range 100 {
		if err := q.Enter(tty.Line{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := q.Enter(tty.Line{Text: "hello"}); !errors.Is(err, live.ErrFull) {
		t.Errorf("one more: %v", err)
	}
}

// Lines that are entered during a turn are given to it, until it refuses one or is cancelled.
func TestLinesSteerTheTurn(t *testing.T) {
	var returned []tty.Line
	q := live.NewQueue(func() {}, func(lines []tty.Line) { returned = append(returned, lines...) })
	given, takes := make(chan string), make(chan bool)
	stop := q.Watch(func(l tty.Line) bool {
		given <- l.Text
		return <-takes
	})
	enter := func(text string) {
		if err := q.Enter(tty.Line{ID: text, Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	enter("one")
	enter("two")
	if got := <-given; got != "one" {
		t.Errorf("given %q", got)
	}
	back := make(chan bool)
	go func() {
		_, ok := q.TakeBack("one")
		back <- ok
	}()
	takes <- true
	if <-back {
		t.Error("what the agent has got is taken back")
	}
	if got := <-given; got != "two" {
		t.Errorf("given %q", got)
	}
	enter("three")
	q.Cancel()
	if len(returned) != 1 || returned[0].Text != "three" {
		t.Errorf("returned %v", returned)
	}
	takes <- false
	stop()
	if left := q.Queued(); len(left) > 0 || len(returned) != 2 || returned[1].Text != "two" {
		t.Errorf("left %v, returned %v", left, returned)
	}
}
