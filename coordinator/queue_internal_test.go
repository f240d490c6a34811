package coordinator

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// Members that the last message addresses are preferred a few times in a row, counted for each queue.
func TestEmptyQueueForgetsPreferences(t *testing.T) {
	add := func(q *queue, name, message string) {
		q.add(item{member: team.Member{ID: name}, trigger: trigger{id: message}, intent: marker.Reply})
	}
	for name, empty := range map[string]func(q *queue){
		"taken":   func(q *queue) { q.take("m1") },
		"dropped": func(q *queue) { q.drop(everyone, "test") },
	} {
		t.Run(name, func(t *testing.T) {
			var q queue
			for i := range maxInARow {
				add(&q, fmt.Sprint("a", i), "m1")
			}
			for range maxInARow - 1 {
				q.take("m1")
			}
			empty(&q)
			add(&q, "waiting", "m0")
			for i := range maxInARow {
				add(&q, fmt.Sprint("b", i), "m2")
			}
			for i := range maxInARow {
				if next, _ := q.take("m2"); next.member.ID != fmt.Sprint("b", i) {
					t.Errorf("turn %d is of %s", i+1, next.member.ID)
				}
			}
			if next, _ := q.take("m2"); next.member.ID != "waiting" {
				t.Errorf("the last turn is of %s", next.member.ID)
			}
		})
	}
}

// The reason of each preference holds for the item that is taken and the oldest one.
func TestReasonsOfPreferencesAreTrue(t *testing.T) {
	reasons := map[string]func(taken, oldest item, last string) bool{
		"it interrupts (P1)": func(taken, oldest item, _ string) bool {
			return taken.intent == marker.Interrupt && oldest.intent != marker.Interrupt
		},
		"the last message addresses it": func(taken, oldest item, last string) bool {
			return taken.trigger.id == last && oldest.trigger.id != last
		},
		"replies (P2) come before extends (P3)": func(taken, oldest item, _ string) bool {
			return taken.intent == marker.Reply && oldest.intent == marker.Extend
		},
	}
	random := rand.New(rand.NewPCG(1, 2))
	seen := map[string]int{}
	var q queue
	for message := range 2000 {
		last := fmt.Sprint("m", message)
		for range random.IntN(4) {
			q.add(item{
				member:  team.Member{ID: fmt.Sprint("a", random.IntN(9))},
				trigger: trigger{id: last},
				intent:  marker.Intent(1 + random.IntN(3)),
			})
		}
		if q.empty() {
			continue
		}
		oldest := q.items[0]
		taken, change := q.take(last)
		if change == nil {
			if taken.member.ID != oldest.member.ID || taken.trigger.id != oldest.trigger.id {
				t.Fatalf("%+v was preferred to %+v without a change", taken, oldest)
			}
			continue
		}
		holds, ok := reasons[change.Reason]
		if !ok || !holds(taken, oldest, last) || change.Action != projection.QueuePreferred {
			t.Fatalf("%+v was preferred to %+v after %s: %+v", taken, oldest, last, change)
		}
		seen[change.Reason]++
	}
	if len(seen) != len(reasons) {
		t.Errorf("the reasons were %v", seen)
	}
}
