package coordinator

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/marker"
)

// The limits of the queue.
const (
	maxQueued    = 50 // members; more are skipped
	maxAddressed = 10 // items per message; more are demoted to marker.Extend
	maxInARow    = 5  // turns for the last message while members that others addressed wait
	maxRecorded  = 20 // changes per event; more are only counted
)

// item is a queued member with the message that addressed it.
type item struct {
	member  team.Member
	trigger trigger
	intent  marker.Intent
	panel   string // items with the same one are taken together; "": none
	place   int    // in the panel, from 1
	// seen and sum are what turn.seen and turn.sum become; 0 and "": what they are when the turn starts.
	seen uint64
	sum  string
}

// trigger is the message that triggers a turn.
type trigger struct {
	id          string
	speaker     string // display name
	speakerType string
	text        string
	files       []projection.File
	next        []string // its NEXT markers, as they were typed
	repliesTo   string   // the ID of the message that triggered this one; "" for a human's
}

func newTrigger(m projection.Entry) trigger {
	t := trigger{
		id: m.ID, speaker: m.Speaker.DisplayName, speakerType: m.Speaker.Type, text: m.Content, files: m.Attachments,
	}
	if m.Routing != nil {
		t.next = m.Routing.RawNextMarkers
	}
	return t
}

// entryOf returns a message as the entries of a state are, without its position.
func entryOf(m projection.MessageAppended) projection.Entry {
	return projection.Entry{Message: m.Message, Attachments: m.Attachments}
}

// queue has the members who are to speak. It is not recorded: after a restart it is empty.
//
// Interrupts are first, the oldest first. Then come the members that the last message addresses, but
// at most maxInARow in a row; then all others. Within these groups replies precede extends, and
// older items newer ones.
type queue struct {
	items  []item // the oldest first
	inARow int    // consecutive items taken because the last message addressed them
}

func (q *queue) empty() bool { return len(q.items) == 0 }

// add appends an item, or merges it into the one that makes it redundant. It returns the change if it is not
// a plain append.
func (q *queue) add(i item) *projection.QueueChange {
	requested := i
	at := q.duplicate(i)
	demoted := i.intent != marker.Extend && q.addressedBy(i.trigger.id) >= maxAddressed
	if demoted {
		i.intent = marker.Extend
		if at < 0 {
			at = q.duplicate(i)
		}
	}
	switch {
	case at >= 0:
		return newChange(projection.QueueRepeated, requested, q.items[at].merge(i))
	case len(q.items) >= maxQueued:
		return newChange(projection.QueueSkipped, requested, fmt.Sprintf("the queue is full (%d)", maxQueued))
	}
	q.items = append(q.items, i)
	if !demoted {
		return nil
	}
	reason := fmt.Sprintf("the message has %d entries in the queue already; P3 instead of %v",
		maxAddressed, requested.intent)
	return newChange(projection.QueueDemoted, requested, reason)
}

// merge gives a queued item the trigger of a later one of the same member, and the more urgent intent of both. It
// returns what this changed.
func (i *item) merge(later item) (change string) {
	newer, raised := i.trigger.id != later.trigger.id, later.intent < i.intent
	i.trigger, i.intent = later.trigger, min(i.intent, later.intent)
	switch {
	case newer:
		return fmt.Sprintf("already last in the queue; it answers the newer message, with %v", i.intent)
	case raised:
		return fmt.Sprintf("already last in the queue; now with %v", i.intent)
	}
	return "already queued; duplicate ignored"
}

// duplicate returns the index of an item that makes i redundant: the last one if it is the same
// member, or an equal one. It returns -1 if there is none.
func (q *queue) duplicate(i item) int {
	if n := len(q.items); n > 0 && q.items[n-1].member.ID == i.member.ID {
		return n - 1
	}
	return slices.IndexFunc(q.items, func(other item) bool {
		return other.member.ID == i.member.ID && other.trigger.id == i.trigger.id && other.intent == i.intent
	})
}

// addressedBy returns how many items a message triggered.
func (q *queue) addressedBy(messageID string) (n int) {
	for _, i := range q.items {
		if i.trigger.id == messageID {
			n++
		}
	}
	return n
}

// take removes and returns the next item, given the ID of the last message. It also returns the
// change if the item is not the oldest.
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
	return next, newChange(projection.QueuePreferred, next, why)
}

// takeAll is take with the other members of the next item's panel, in the order of the message.
func (q *queue) takeAll(last string) (next []item, change *projection.QueueChange) {
	first, change := q.take(last)
	if first.panel == "" {
		return []item{first}, change
	}
	inPanel := func(i item) bool { return i.panel == first.panel }
	next = append(next, first)
	for _, i := range q.items {
		if inPanel(i) {
			next = append(next, i)
		}
	}
	q.items = slices.DeleteFunc(q.items, inPanel)
	slices.SortStableFunc(next, func(a, b item) int { return cmp.Compare(a.place, b.place) })
	return next, change
}

// next returns the index of the next item and why it is not the oldest.
func (q *queue) next(last string) (at int, why string) {
	if at = q.best(func(i item) bool { return i.intent == marker.Interrupt }); at >= 0 {
		return at, "it interrupts (P1)"
	}
	const byIntent = "replies (P2) come before extends (P3)"
	addressed := func(i item) bool { return i.trigger.id == last }
	if q.inARow < maxInARow {
		if at = q.best(addressed); at >= 0 {
			q.inARow++
			if addressed(q.items[0]) {
				return at, byIntent
			}
			return at, "the last message addresses it"
		}
	}
	q.inARow = 0
	return q.best(everyone), byIntent
}

// best returns the index of the most urgent item that satisfies match, the oldest of equals; -1 if
// there is none.
func (q *queue) best(match func(item) bool) int {
	best := -1
	for at, i := range q.items {
		if match(i) && (best < 0 || i.intent < q.items[best].intent) {
			best = at
		}
	}
	return best
}

// order returns the items in the order in which they would be taken without further messages.
func (q *queue) order(last string) []item {
	rest := queue{items: slices.Clone(q.items), inARow: q.inARow}
	var order []item
	for !rest.empty() {
		next, _ := rest.takeAll(last)
		order = append(order, next...)
	}
	return order
}

// drop removes the items that satisfy match.
func (q *queue) drop(match func(item) bool, reason string) []projection.QueueChange {
	var changes []projection.QueueChange
	for _, i := range q.items {
		if match(i) {
			changes = append(changes, *newChange(projection.QueueDropped, i, reason))
		}
	}
	q.items = slices.DeleteFunc(q.items, match)
	if q.empty() {
		q.inARow = 0
	}
	return changes
}

func everyone(item) bool { return true }

func newChange(action projection.QueueAction, i item, reason string) *projection.QueueChange {
	return &projection.QueueChange{
		Action: action, MemberID: i.member.ID, Intent: i.intent.String(), Reason: reason,
	}
}

// Queued is a queued member.
type Queued struct {
	Member  team.Member
	Intent  marker.Intent
	AskedBy string // the display name of the speaker of the message
	Text    string // the message that addressed the member
}

// Queued returns the queue in the order in which the members would speak without further messages.
func (c *Coordinator) Queued() []Queued {
	var all []Queued
	for _, i := range c.queue.order(c.last) {
		all = append(all, Queued{i.member, i.intent, i.trigger.speaker, i.trigger.text})
	}
	return all
}

// QueueChanges returns the newest changes of the queue since the last human message that do not
// follow from the messages alone, the oldest first.
func (c *Coordinator) QueueChanges() []projection.QueueChange { return c.changes }

// noteChanges keeps changes for QueueChanges and for the next event.
func (c *Coordinator) noteChanges(changes ...projection.QueueChange) {
	c.unrecorded = append(c.unrecorded, changes...)
	c.changes = append(c.changes, changes...)
	c.changes = c.changes[max(0, len(c.changes)-maxRecorded):]
}

// queueChanges returns the event of the unrecorded changes, if there are any.
func (c *Coordinator) queueChanges() []projection.Payload {
	n := len(c.unrecorded)
	if n == 0 {
		return nil
	}
	p := projection.QueueChanged{MessageID: c.last, Changes: c.unrecorded, Waiting: []string{}}
	if n > maxRecorded {
		p.Changes, p.More = c.unrecorded[:maxRecorded], n-maxRecorded
	}
	for _, i := range c.queue.order(c.last) {
		p.Waiting = append(p.Waiting, i.member.ID)
	}
	c.unrecorded = nil
	return []projection.Payload{p}
}

// clearQueue removes all items and notifies the listener.
func (c *Coordinator) clearQueue(reason string) {
	dropped := c.queue.drop(everyone, reason)
	if len(dropped) == 0 {
		return
	}
	c.noteChanges(dropped...)
	c.notify(QueueCleared{c.changed(dropped, projection.QueueDropped)})
}
