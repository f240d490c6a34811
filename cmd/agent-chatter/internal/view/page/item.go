package page

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/stretch"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// An Item is what a page shows as a unit: a turn, a message without a turn, or a change of the session.
type Item struct {
	projection.TimelineRow
	Entry projection.Entry // the message or the unfinished reply; zero: the item has none
	Calls view.Calls       // of Entry.Steps
	Queue []string         // ids of the members that were queued last while the item was the newest one

	end         *projection.TurnEnded // nil: the turn has no end, or it is not a turn
	over        bool                  // a turn or a message of a person follows
	permissions permissions
}

// permissions are the answers to requests for permission, by turn and tool.
type permissions map[[2]string]projection.PermissionAnswered

// Open reports whether the turn has no end yet.
func (i *Item) Open() bool { return i.Kind == projection.RowTurn && i.end == nil && !i.over }

// Problem says why the turn is unfinished, and "" if it is not, or may still be running.
func (i *Item) Problem() string {
	end, _ := i.turnEnd()
	return end.Problem
}

// Figures returns the duration, the tokens and the cost of the turn, as far as they are known.
func (i *Item) Figures() []string {
	end, _ := i.turnEnd()
	return end.Figures
}

func (i *Item) turnEnd() (view.TurnEnd, bool) {
	if i.Kind != projection.RowTurn || i.Open() {
		return view.TurnEnd{}, false
	}
	return view.EndOf(i.end, i.Message > 0)
}

// Markdown returns the message as it was written, after the name of its speaker.
func (i *Item) Markdown() string {
	return "**" + i.Member.DisplayName + "**\n\n" + strings.TrimSpace(i.Entry.Content) + "\n"
}

// Whole returns the whole of a text of an item that HTML cuts: its message, or what a tool call that began with event
// seq was given or returned. of is the data-of of the cut; "" if there is no such text.
func (i *Item) Whole(of string, seq uint64) string {
	if of == ofMessage {
		return i.Entry.Content
	}
	call := i.Calls[seq]
	switch of {
	case ofInput:
		return view.MainInput(call.Started.Input)
	case ofOutput:
		return outputOf(call)
	}
	return ""
}

// A Fold divides the events of a session into items. The zero Fold is that of a session without events.
type Fold struct {
	Members view.Transcript // has the colours of the members

	timeline projection.Timeline
	state    projection.State // has the names of the members
}

// Begin takes the first events of a session, up to session.created, which name the members.
func (f *Fold) Begin(events iter.Seq2[journal.Event, error]) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		f.begin(e)
		if len(f.state.Team.Members) > 0 || e.Seq > 16 {
			return nil
		}
	}
	return nil
}

func (f *Fold) begin(e journal.Event) {
	f.timeline.Apply(e)
	f.state.Apply(e)
	f.Members.AddMembers(f.state.Team.Members)
}

// Items returns the items of the events that follow. No turn that is open after the events is continued by the next
// call.
func (f *Fold) Items(events []journal.Event) []Item {
	f.timeline.Open = nil
	f.timeline.Forget()
	calls, answers := view.Calls{}, permissions{}
	ends := map[string]*projection.TurnEnded{} // by turn
	queues := map[int][]string{}               // by the index of the newest item
	for _, e := range events {
		if e.Type == created {
			f.begin(e)
			continue
		}
		f.timeline.Apply(e)
		if e.Type != turnEnded && e.Type != queueChanged && e.Type != permissionAnswered {
			continue
		}
		switch p, _ := projection.Decode(e); p := p.(type) {
		case projection.TurnEnded:
			ends[p.TurnID] = &p
		case projection.QueueChanged:
			queues[len(f.timeline.Rows)-1] = f.timeline.Waiting
		case projection.PermissionAnswered:
			answers[[2]string{p.TurnID, p.ToolID}] = p
		}
	}
	items := make([]Item, 0, len(f.timeline.Rows))
	for i, row := range f.timeline.Rows {
		items = append(items, Item{
			TimelineRow: row, Calls: calls, Queue: queues[i], end: ends[row.TurnID],
			over: slices.ContainsFunc(f.timeline.Rows[i+1:], endsTurns), permissions: answers,
		})
	}
	for entry := range projection.ReplayFrom(&f.state, calls.Complete(stretch.Stretch{Events: events}.All())) {
		if i := slices.IndexFunc(items, func(i Item) bool { return i.shows(entry) }); i >= 0 {
			items[i].Entry = entry
		}
	}
	return items
}

// endsTurns reports whether a turn that is open before a row has ended.
func endsTurns(r projection.TimelineRow) bool {
	return r.Kind == projection.RowTurn || r.Kind == projection.RowMessage && r.Member.Type == projection.TypeHuman
}

// shows reports whether an entry is the message or the unfinished reply of an item.
func (i *Item) shows(e projection.Entry) bool {
	if !e.Partial {
		return i.Message == e.Seq
	}
	// The ID of a partial reply is that of its turn, which a row may have in part.
	return i.Kind == projection.RowTurn && i.Message == 0 && strings.HasPrefix(e.ID, i.TurnID) &&
		(i.end == nil || i.End == e.Seq)
}

var (
	created            = projection.TypeOf(projection.SessionCreated{})
	turnEnded          = projection.TypeOf(projection.TurnEnded{})
	queueChanged       = projection.TypeOf(projection.QueueChanged{})
	permissionAnswered = projection.TypeOf(projection.PermissionAnswered{})
)

// All divides all events of a session into items, a part of the session at a time. An error ends the sequence.
func (f *Fold) All(events iter.Seq2[journal.Event, error]) iter.Seq2[*Item, error] {
	return func(yield func(*Item, error) bool) {
		var s stretch.Stretch
		flush := func() bool {
			for _, item := range f.Items(s.Events) {
				if !yield(&item, nil) {
					return false
				}
			}
			s = stretch.Stretch{}
			return true
		}
		for e, err := range events {
			if err != nil {
				if flush() {
					yield(nil, err)
				}
				return
			}
			if len(s.Events) > 0 && s.EndsAt(e, stretch.Enough) && !flush() {
				return
			}
			e.Data = bytes.Clone(e.Data)
			s.Add(e)
		}
		flush()
	}
}
