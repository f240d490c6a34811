package conversation

import (
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// An Item is a turn, a message that belongs to none, or a change of the session.
type Item struct {
	Kind    projection.RowKind
	First   uint64             // Seq of the first event
	Last    uint64             // Seq of the last event
	Time    time.Time          // of the first event
	Updated time.Time          // of the last event
	Speaker projection.Speaker // zero: a change of the session

	Turn    *Turn                 // nil: it is no turn
	Open    bool                  // the turn may continue
	End     *projection.TurnEnded // nil: the turn has none, or it is no turn
	Message *projection.Message   // nil: the turn has none, or it is a change of the session
	Said    uint64                // Seq of the Message; 0: none
	Files   []projection.File     // of the Message
	// Text is that of the Message with its Files, the partial reply, the reply so far with markers, or a change.
	Text   string
	Steps  []Step             // of the turn, in order. Only the newest plan is among them
	Change projection.Payload // of a change of the session
	// Queue has the ids of the queued members, if the queue changed while the item was the newest and not yet taken.
	Queue []string
}

// A Step is a tool call or a plan of a turn.
type Step struct {
	Seq  uint64
	At   int64                   // length in bytes of the part of Item.Text that precedes it
	Call *Call                   // nil: a plan
	Plan *projection.PlanUpdated // nil: a call
}

// A Part is a piece of the text of an item, or a step.
type Part struct {
	Text string
	At   int   // position of Text in Item.Text, in bytes
	Step *Step // nil: text
}

// Parts divides an item at its steps. A piece of white space is left out, unless it is all there is.
func (i *Item) Parts() []Part {
	var parts []Part
	rest, at := i.Text, 0
	said := false
	for n := range i.Steps {
		step := &i.Steps[n]
		before := runecut.Prefix(rest, max(0, int(step.At)-at))
		if text := strings.Trim(before, blanks); text != "" {
			parts = append(parts, Part{Text: text, At: at + strings.Index(before, text)})
			said = true
		}
		rest, at = rest[len(before):], at+len(before)
		parts = append(parts, Part{Step: step})
	}
	if len(parts) == 0 {
		return []Part{{Text: rest}}
	}
	// A turn without any text ends with the name of its member.
	if text := strings.TrimLeft(rest, blanks); text != "" || !said {
		parts = append(parts, Part{Text: text, At: at + len(rest) - len(text)})
	}
	return parts
}

// Partial reports whether the item is a turn that has no message.
func (i *Item) Partial() bool { return i.Kind == projection.RowTurn && i.Message == nil }

// Entry returns the message of an item or its partial reply, as `replay --output json` prints it; false: it has
// neither, and no steps.
func (i *Item) Entry() (projection.Entry, bool) {
	var entry projection.Entry
	switch {
	case i.Message != nil:
		entry = projection.Entry{Seq: i.Said, Message: *i.Message, Attachments: i.Files}
	case i.Kind != projection.RowTurn || i.Text == "" && len(i.Steps) == 0:
		return entry, false
	default:
		entry = projection.Entry{Seq: i.Last, Partial: true, Message: projection.Message{
			ID: i.Turn.ID, Timestamp: projection.FormatTime(i.Updated), Speaker: i.Speaker, Content: i.Text,
		}}
		switch {
		case i.End != nil:
			entry.ContentBytes = i.End.PartialBytes
		case i.Turn.bytes > int64(len(i.Text)):
			entry.ContentBytes = i.Turn.bytes
		}
	}
	for _, step := range i.Steps {
		entry.Steps = append(entry.Steps, step.summary())
	}
	return entry, true
}

// maxStepText bounds the texts of a projection.Step, in bytes.
const maxStepText = 200

func (s Step) summary() projection.Step {
	step := projection.Step{Seq: s.Seq, At: s.At}
	if s.Plan == nil {
		step.ToolID, step.Name, step.Ended = s.Call.Started.ToolID, s.Call.Started.Name, s.Call.Result != nil
		step.Bypassed = s.Call.Bypass != nil
		if step.Ended {
			step.Error = runecut.Prefix(s.Call.Result.Error, maxStepText)
		}
		return step
	}
	plan := s.Plan.Short()
	step.Plan, step.More = plan.Entries, plan.More
	return step
}

// Items collects items from deltas in the order of their events. The zero Items are empty.
type Items struct {
	list []*Item // not taken yet, in the order of their first events
	last *Item
	open map[*Turn]*Item
}

// Add adds a delta.
func (s *Items) Add(d Delta) {
	at := d.of()
	var i *Item
	switch d := d.(type) {
	case Said:
		i = s.add(at, &Item{Kind: projection.RowMessage, Speaker: d.Message.Speaker, Message: &d.Message, Said: at.Seq})
		i.Files, i.Text = d.Attachments, d.Text()
	case Changed:
		if i = s.change(at, d.Payload); i == nil {
			return
		}
	default:
		i = s.turn(at, TurnOf(d))
		i.update(d)
	}
	end, ended := d.(Ended)
	if ended && end.End == nil {
		at = i.Turn.last // the event that shows that it is over belongs to another item
	}
	if at.Seq > 0 {
		i.Last, i.Updated = at.Seq, at.Time
	}
	if ended {
		delete(s.open, i.Turn)
	}
}

// add adds an item that an event begins.
func (s *Items) add(at Source, i *Item) *Item {
	i.First, i.Time = at.Seq, at.Time
	s.list, s.last = append(s.list, i), i
	return i
}

// turn returns the item of a turn.
func (s *Items) turn(at Source, t *Turn) *Item {
	i, ok := s.open[t]
	if !ok {
		i = s.add(at, &Item{Kind: projection.RowTurn, Turn: t, Open: true})
		if s.open == nil {
			s.open = map[*Turn]*Item{}
		}
		s.open[t] = i
	}
	i.Speaker = t.Speaker
	return i
}

// change adds a change of the session; nil: it is not shown, or changes the newest item.
func (s *Items) change(at Source, p projection.Payload) *Item {
	var kind projection.RowKind
	switch p := p.(type) {
	case projection.TaskSet:
		kind = projection.RowTask
	case projection.SessionRenamed:
		kind = projection.RowTitle
	case projection.MemberChanged:
		kind = projection.RowMember
	case projection.BudgetChanged:
		kind = projection.RowBudget
	case projection.FilesChanged, projection.FilesRestored:
		kind = projection.RowFiles
	case projection.SessionImported:
		kind = projection.RowImport
	case projection.SessionCreated:
		if p.Parent == nil {
			return nil
		}
		kind = projection.RowFork
	case projection.QueueChanged:
		if s.last != nil {
			s.last.Queue = p.Waiting
		}
		return nil
	default:
		return nil
	}
	return s.add(at, &Item{Kind: kind, Change: p, Text: projection.ChangeText(p)})
}

// update adds a delta of its turn to an item.
func (i *Item) update(d Delta) {
	switch d := d.(type) {
	case Called:
		i.addStep(Step{Seq: d.Seq, At: d.Call.At, Call: &d.Call})
	case Completed:
		i.result(d.Call)
	case Planned:
		i.Steps = slices.DeleteFunc(i.Steps, func(s Step) bool { return s.Plan != nil })
		if len(d.Plan.Entries) > 0 {
			i.addStep(Step{Seq: d.Seq, At: d.At, Plan: &d.Plan})
		}
	case Replied:
		i.Message, i.Said, i.Text = &d.Message, d.Seq, d.Message.Content
		i.place(d.Common)
	case Ended:
		i.End, i.Open = d.End, false
		for _, c := range d.Open {
			i.result(c)
		}
		if i.Message == nil {
			i.Text = d.Partial
			i.place(d.Common)
		}
	}
}

// addStep adds a step. What follows the message of a turn is at its end.
func (i *Item) addStep(s Step) {
	if i.Message != nil {
		s.At = int64(len(i.Text))
	}
	i.Steps = append(i.Steps, s)
}

// result replaces a call by what is known of it now.
func (i *Item) result(c Call) {
	for n := range slices.Backward(i.Steps) {
		if step := &i.Steps[n]; step.Call != nil && step.Seq == c.Seq {
			step.Call = &c
			return
		}
	}
}

// place limits the positions of the steps so far to the part of the text that was recorded before.
func (i *Item) place(common int64) {
	for n := range i.Steps {
		i.Steps[n].At = min(i.Steps[n].At, common)
	}
}

// Take returns and forgets the items up to the first one that is open.
func (s *Items) Take() []*Item {
	n := slices.IndexFunc(s.list, func(i *Item) bool { return i.Open })
	if n < 0 {
		n = len(s.list)
	}
	taken := s.list[:n:n]
	s.list = s.list[n:]
	return taken
}

// TakeAll returns and forgets all items. Of those that are open, Text is what the journal has so far.
func (s *Items) TakeAll() []*Item {
	for t, i := range s.open {
		if i.Message == nil {
			i.Text = t.text()
		}
		i.Last, i.Updated = t.last.Seq, t.last.Time
		for _, c := range t.calls {
			i.result(*c)
		}
	}
	taken := s.list
	s.list = nil
	return taken
}

// Read applies events and yields their items, each when it cannot change any more and all before it were yielded. Those
// that are open at the end come last, and count up to the last event. Before an error, which ends it, it yields what
// precedes it. With the events of projection.Brief, the results of calls have no Output.
func (c *Conversation) Read(events iter.Seq2[projection.Event, error]) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		var items Items
		var last uint64
		var failure error
		for e, err := range events {
			if failure = err; err != nil {
				break
			}
			last = e.Seq
			for _, d := range c.Apply(e) {
				items.Add(d)
			}
			for _, i := range items.Take() {
				if !yield(i, nil) {
					return
				}
			}
		}
		for _, i := range items.TakeAll() {
			if i.Open {
				i.Last = last
			}
			if !yield(i, nil) {
				return
			}
		}
		if failure != nil {
			yield(nil, failure)
		}
	}
}

// ItemOf returns the one of some items that an event belongs to; nil: there is none. Of an event that items do not
// name, such as a piece of text, it is the newest one around it.
func ItemOf(items []*Item, seq uint64) (found *Item) {
	for _, i := range items {
		if i.names(seq) {
			return i
		}
		if i.First <= seq && seq <= i.Last {
			found = i
		}
	}
	return found
}

func (i *Item) names(seq uint64) bool {
	return i.First == seq || i.Said == seq || i.Last == seq ||
		slices.ContainsFunc(i.Steps, func(s Step) bool { return s.Seq == seq })
}
