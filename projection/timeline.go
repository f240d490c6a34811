package projection

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Timeline lists what happened in a session: a row for each turn, and one for each
// message that belongs to no turn, such as a person's. The zero Timeline is that of a
// session without events.
//
// It is a fold of the same events as State, but its length is that of the session: a
// row takes a few hundred bytes, whatever was said. The conversation at a row is what
// the events up to its End amount to. The task is read from the event that Task names.
type Timeline struct {
	Rows    []TimelineRow `json:"rows"`
	Members []Speaker     `json:"members,omitempty"` // speakers; an id is repeated if its names change
	Task    uint64        `json:"task,omitempty"`    // Seq of the task.set in effect; 0: no task
	Waiting []string      `json:"waiting,omitempty"` // ids of the queued members, the next one first
}

// TimelineRow is a turn, or a message that belongs to none. Its times and counts are
// those of the events so far.
type TimelineRow struct {
	Seq          uint64       `json:"seq"`               // of the first event
	End          uint64       `json:"end"`               // Seq of the last event
	Message      uint64       `json:"message,omitempty"` // Seq of the message.appended; 0: none
	TurnID       string       `json:"turnId,omitempty"`  // "": not a turn
	Member       Speaker      `json:"member"`
	Time         time.Time    `json:"time"`                   // of the first event
	DurationMS   int64        `json:"durationMs,omitempty"`   // of an ended turn
	FinishReason FinishReason `json:"finishReason,omitempty"` // "": the turn has no end, or it is not a turn
	Text         string       `json:"text,omitempty"`         // the first words, in one line, without markers
	Tools        int          `json:"tools,omitempty"`        // tool calls
	FailedTools  int          `json:"failedTools,omitempty"`
	Usage        Usage        `json:"usage,omitzero"`
	Task         uint64       `json:"task,omitempty"`    // as Timeline.Task was at End
	Waiting      []string     `json:"waiting,omitempty"` // as Timeline.Waiting was at End
}

// The bounds of a row. An open turn is found among the newest maxOpenTurns rows.
const (
	rowText    = 80  // code points of TimelineRow.Text
	rowID      = 200 // bytes of an id or a name
	rowWaiting = 50  // members
)

// Apply adds one event to the timeline. It never fails: events that cannot be decoded
// add nothing.
func (t *Timeline) Apply(e journal.Event) {
	p, _, err := decodeForFold(e)
	if err != nil {
		return
	}
	switch p := p.(type) {
	case SessionCreated:
		for _, m := range p.Team.Members {
			t.intern(Speaker{m.ID, m.Name, m.DisplayName, m.Type})
		}
	case SessionResumed:
		t.Waiting = nil // The queue does not survive a restart.
	case TaskSet:
		t.Task = 0
		if p.Task != nil {
			t.Task = e.Seq
		}
	case QueueChanged:
		t.Waiting = nil
		for _, id := range p.Waiting {
			t.enqueue(id)
		}
	case MessageAppended:
		t.addMessage(e, p.Message)
	case TurnStarted:
		t.dequeue(func(m Speaker) bool { return m.ID == clip(p.MemberID) })
		t.update(e, t.add(e, p.TurnID, t.member(p.MemberID)))
	case TurnText, ToolStarted, ToolCompleted, TurnEnded:
		t.updateTurn(e, p)
	}
}

func (t *Timeline) addMessage(e journal.Event, m Message) {
	by := t.intern(m.Speaker)
	r := t.find(func(r *TimelineRow) bool { return r.TurnID != "" && r.Member.ID == by.ID && r.Message == 0 })
	if r == nil {
		r = t.add(e, "", by)
	}
	if by.Type == TypeHuman {
		// A person who was next in the queue left it without an event.
		t.dequeue(func(m Speaker) bool { return m.Type == TypeHuman })
	}
	if m.Routing != nil {
		for _, a := range m.Routing.ResolvedAddressees {
			if a.MemberID != nil {
				t.enqueue(*a.MemberID)
			}
		}
	}
	r.Message = e.Seq
	r.setText(strings.TrimSpace(oneLine(m.Content)))
	t.update(e, r)
}

// updateTurn adds an event to the row of its turn. An end without a start has a row
// of its own.
func (t *Timeline) updateTurn(e journal.Event, p Payload) {
	open := func(turnID string) *TimelineRow {
		return t.find(func(r *TimelineRow) bool { return r.TurnID == clip(turnID) })
	}
	var r *TimelineRow
	switch p := p.(type) {
	case TurnText:
		if r = open(p.TurnID); r != nil && r.Message == 0 && utf8.RuneCountInString(r.Text) < rowText {
			r.setText(strings.TrimLeft(lineBreak.Replace(r.Text+head(p.Text)), " "))
		}
	case ToolStarted:
		if r = open(p.TurnID); r != nil {
			r.Tools++
		}
	case ToolCompleted:
		if r = open(p.TurnID); r != nil && p.Error != "" {
			r.FailedTools++
		}
	case TurnEnded:
		if r = open(p.TurnID); r == nil {
			r = t.add(e, p.TurnID, t.member(p.MemberID))
		}
		r.DurationMS, r.FinishReason = p.DurationMS, FinishReason(clip(string(p.FinishReason)))
		if p.Usage != nil {
			r.Usage = *p.Usage
		}
		if r.Message == 0 && p.Partial != "" {
			r.setText(strings.TrimSpace(oneLine(p.Partial)))
		}
	}
	if r != nil {
		t.update(e, r)
	}
}

func (t *Timeline) add(e journal.Event, turnID string, by Speaker) *TimelineRow {
	t.Rows = append(t.Rows, TimelineRow{Seq: e.Seq, Time: e.Time, TurnID: clip(turnID), Member: by})
	return &t.Rows[len(t.Rows)-1]
}

// update makes e the last event of a row.
func (t *Timeline) update(e journal.Event, r *TimelineRow) {
	r.End, r.Task, r.Waiting = e.Seq, t.Task, t.Waiting
}

// find returns the newest row of an open turn for which match holds; nil: none.
func (t *Timeline) find(match func(*TimelineRow) bool) *TimelineRow {
	for i := len(t.Rows) - 1; i >= max(0, len(t.Rows)-maxOpenTurns); i-- {
		if r := &t.Rows[i]; r.TurnID != "" && r.FinishReason == "" && match(r) {
			return r
		}
	}
	return nil
}

// enqueue adds a member to Waiting. The rows share what was there before.
func (t *Timeline) enqueue(id string) {
	id = t.member(id).ID
	if n := len(t.Waiting); n < rowWaiting && (n == 0 || t.Waiting[n-1] != id) {
		t.Waiting = append(slices.Clone(t.Waiting), id)
	}
}

// dequeue removes the first waiting member for whom match holds.
func (t *Timeline) dequeue(match func(Speaker) bool) {
	if i := slices.IndexFunc(t.Waiting, func(id string) bool { return match(t.member(id)) }); i >= 0 {
		t.Waiting = slices.Concat(t.Waiting[:i], t.Waiting[i+1:])
	}
}

// member returns a member by id, with the newest names.
func (t *Timeline) member(id string) Speaker {
	id = clip(id)
	for _, m := range slices.Backward(t.Members) {
		if m.ID == id {
			return m
		}
	}
	return Speaker{ID: id, Name: id, DisplayName: id, Type: TypeAI}
}

// intern returns the element of Members that is equal to s, so that rows share its
// strings. It adds one if there is none.
func (t *Timeline) intern(s Speaker) Speaker {
	s = Speaker{clip(s.ID), clip(s.Name), clip(s.DisplayName), clip(s.Type)}
	i := slices.Index(t.Members, s)
	if i < 0 {
		i = len(t.Members)
		t.Members = append(t.Members, s)
	}
	return t.Members[i]
}

func clip(id string) string {
	if len(id) <= rowID {
		return id
	}
	return strings.Clone(runecut.Prefix(id, rowID))
}

func (r *TimelineRow) setText(text string) {
	short, _ := cutRunes(text, rowText)
	r.Text = strings.Clone(short) // without the memory of all of it
}
