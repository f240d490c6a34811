package coordinator

import (
	"fmt"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
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
