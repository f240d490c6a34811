package coordinator

import (
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// The bounds of the queue.
const (
	mostWaiting  = 50 // members; more are skipped
	mostOfOne    = 10 // for an answer to the same message; more become marker.Extend
	mostInARow   = 5  // because the last message asked for them, while others wait
	mostRecorded = 20 // decisions at a time; more are counted
)

// item is one member who is to speak, and the message that asked for it.
type item struct {
	member  team.Member
	trigger trigger
	intent  marker.Intent
	since   time.Time
}

// trigger is the message that a turn answers.
type trigger struct {
	id      string
	speaker string // as displayed
	text    string
	answers string // the id of the message that this one is a reply to; "" when it is a human's
}

// queue is who is to speak. It belongs to one run of the program: no journal has
// it, and nobody waits after a restart.
//
// Next is whoever interrupts, the oldest first. Then comes who is asked by the
// last message, but only so many in a row; then everybody. Among these, who
// replies comes before who extends, and then the oldest first.
type queue struct {
	items  []item // the oldest first
	inARow int    // how many were taken because the last message asked for them
}

func (q *queue) empty() bool { return len(q.items) == 0 }

// add puts a member behind the others. It returns what was decided, unless that
// is just what was asked for.
func (q *queue) add(i item) *projection.QueueChange {
	if at := q.repeated(i); at >= 0 {
		waits := &q.items[at]
		waits.trigger, waits.intent = i.trigger, min(waits.intent, i.intent)
		return changed(projection.QueueRepeated, i, "waits already, and is asked once")
	}
	if len(q.items) >= mostWaiting {
		return changed(projection.QueueSkipped, i, fmt.Sprintf("%d are waiting, and no more can", mostWaiting))
	}
	var change *projection.QueueChange
	if i.intent != marker.Extend && q.askedBy(i.trigger.id) >= mostOfOne {
		change = changed(projection.QueueDemoted, i, fmt.Sprintf("%d are asked by the same message: this one comes after those who reply", mostOfOne))
		i.intent = marker.Extend
	}
	q.items = append(q.items, i)
	return change
}

// repeated is the place of an item for which another one would count only once,
// -1 without one: the last one when it is of the same member, and one that is
// the same in everything.
func (q *queue) repeated(i item) int {
	if n := len(q.items); n > 0 && q.items[n-1].member.ID == i.member.ID {
		return n - 1
	}
	return slices.IndexFunc(q.items, func(w item) bool {
		return w.member.ID == i.member.ID && w.trigger.id == i.trigger.id && w.intent == i.intent
	})
}

// askedBy is how many wait because of a message.
func (q *queue) askedBy(messageID string) (n int) {
	for _, w := range q.items {
		if w.trigger.id == messageID {
			n++
		}
	}
	return n
}

// take takes out who is next, when the last message is that one. It returns what
// was decided, unless that is the one who has waited longest.
func (q *queue) take(last string) (item, *projection.QueueChange) {
	at, why := q.next(last)
	next := q.items[at]
	q.items = slices.Delete(q.items, at, at+1)
	if q.empty() {
		q.inARow = 0
	}
	if at == 0 {
		return next, nil
	}
	return next, changed(projection.QueuePreferred, next, why)
}

// next is the place of who is next, and why it is not the first one.
func (q *queue) next(last string) (at int, why string) {
	if at = q.best(func(w item) bool { return w.intent == marker.Interrupt }); at >= 0 {
		return at, "it interrupts (P1)"
	}
	const byIntent = "those who reply (P2) come before those who extend (P3)"
	asked := func(w item) bool { return w.trigger.id == last }
	if q.inARow < mostInARow {
		if at = q.best(asked); at >= 0 {
			q.inARow++
			if asked(q.items[0]) {
				return at, byIntent
			}
			return at, "the last message asks for it"
		}
	}
	q.inARow = 0
	return q.best(func(item) bool { return true }), byIntent
}

// best is the place of the most urgent of those that count, the oldest of them;
// -1 when there is none.
func (q *queue) best(counts func(item) bool) int {
	best := -1
	for at, w := range q.items {
		if counts(w) && (best < 0 || w.intent < q.items[best].intent) {
			best = at
		}
	}
	return best
}

// order is everybody, in the order in which they would speak if nobody said
// anything new.
func (q *queue) order(last string) []item {
	rest := queue{items: slices.Clone(q.items), inARow: q.inARow}
	var order []item
	for !rest.empty() {
		next, _ := rest.take(last)
		order = append(order, next)
	}
	return order
}

// drop takes out everybody for whom gone holds.
func (q *queue) drop(gone func(item) bool, reason string) []projection.QueueChange {
	var changes []projection.QueueChange
	for _, w := range q.items {
		if gone(w) {
			changes = append(changes, *changed(projection.QueueDropped, w, reason))
		}
	}
	q.items = slices.DeleteFunc(q.items, gone)
	if q.empty() {
		q.inARow = 0
	}
	return changes
}

func everybody(item) bool { return true }

func changed(action projection.QueueAction, i item, reason string) *projection.QueueChange {
	return &projection.QueueChange{Action: action, MemberID: i.member.ID, Intent: i.intent.String(), Reason: reason}
}

// Queued is somebody who is to speak.
type Queued struct {
	Member  team.Member
	Intent  marker.Intent
	AskedBy string // as displayed
	Text    string // of the message that asks
	Since   time.Time
}

// Queued is who is to speak, in the order in which they would if nobody said
// anything new.
func (c *Coordinator) Queued() []Queued {
	var all []Queued
	for _, w := range c.queue.order(c.last) {
		all = append(all, Queued{w.member, w.intent, w.trigger.speaker, w.trigger.text, w.since})
	}
	return all
}

// Decided is what was decided about the queue since the last human message,
// beyond what the messages say: the newest decisions, oldest first.
func (c *Coordinator) Decided() []projection.QueueChange { return c.decided }

// decide notes decisions, which go to the journal with the next batch.
func (c *Coordinator) decide(changes ...projection.QueueChange) {
	c.undecided = append(c.undecided, changes...)
	c.decided = append(c.decided, changes...)
	c.decided = c.decided[max(0, len(c.decided)-mostRecorded):]
}

// decideIf notes a decision, if there is one.
func (c *Coordinator) decideIf(change *projection.QueueChange) {
	if change != nil {
		c.decide(*change)
	}
}

// decisions is the event of what was decided and is not recorded yet; none when
// nothing was.
func (c *Coordinator) decisions() []projection.Payload {
	n := len(c.undecided)
	if n == 0 {
		return nil
	}
	p := projection.QueueChanged{MessageID: c.last, Changes: c.undecided, Waiting: []string{}}
	if n > mostRecorded {
		p.Changes, p.More = c.undecided[:mostRecorded], n-mostRecorded
	}
	for _, w := range c.queue.order(c.last) {
		p.Waiting = append(p.Waiting, w.member.ID)
	}
	c.undecided = nil
	return []projection.Payload{p}
}

// recordDecisions records what was decided and has no other batch to go with. No
// message waits for it: that it could not be recorded is said, and that is all.
func (c *Coordinator) recordDecisions() {
	if payloads := c.decisions(); payloads != nil {
		c.reportFailure(c.conv.record(c.records(payloads...)...))
	}
}

// empty takes everybody out of the queue, and says who does not speak now.
func (c *Coordinator) empty(reason string) {
	dropped := c.queue.drop(everybody, reason)
	if len(dropped) == 0 {
		return
	}
	c.decide(dropped...)
	c.o.Events.Notice(Notice{Kind: QueueEmptied, Names: c.displayed(dropped)})
}

// displayed are the names, as displayed, of whom decisions are about, each once.
func (c *Coordinator) displayed(changes []projection.QueueChange) []string {
	var names []string
	for _, change := range changes {
		m, _ := c.team.Member(change.MemberID)
		if !slices.Contains(names, m.DisplayName) {
			names = append(names, m.DisplayName)
		}
	}
	return names
}
