package projection

import (
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/agent-chatter/agent-chatter/projection/marker"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// Timeline lists what happened in a session: a row for each turn, for each message that
// belongs to no turn, such as a person's, and for each change of the session itself. The
// zero Timeline is that of a session without events.
//
// It is a fold of the same events as State, but its length is that of the session: a
// row takes a few hundred bytes, whatever was said. Forget bounds it. The conversation at
// a row is what the events up to its End amount to. The task is read from the event that
// Task names.
type Timeline struct {
	First   int           `json:"first,omitempty"` // number of rows that Forget removed
	Rows    []TimelineRow `json:"rows"`
	Open    []OpenRow     `json:"open,omitempty"`    // turns without an end, the oldest first
	Members []Speaker     `json:"members,omitempty"` // speakers; an id is repeated if its names change
	Task    uint64        `json:"task,omitempty"`    // Seq of the task.set in effect; 0: no task
	Waiting []string      `json:"waiting,omitempty"` // ids of the queued members, the next one first
}

// TimelineRow is a turn, a message that belongs to none, or a change of the session. Its
// times and counts are those of the events so far.
type TimelineRow struct {
	Kind         RowKind      `json:"kind"`
	Seq          uint64       `json:"seq"`               // of the first event
	End          uint64       `json:"end"`               // Seq of the last event
	Message      uint64       `json:"message,omitempty"` // Seq of the message.appended; 0: none
	TurnID       string       `json:"turnId,omitempty"`
	Member       Speaker      `json:"member,omitzero"`        // zero: a change of the session
	Time         time.Time    `json:"time"`                   // of the first event
	DurationMS   int64        `json:"durationMs,omitempty"`   // of a turn, so far, without the waits for a person
	FinishReason FinishReason `json:"finishReason,omitempty"` // "": the turn has no end, or it is not a turn
	Text         string       `json:"text,omitempty"`         // the first words, without markers and Markdown
	Tools        int          `json:"tools,omitempty"`        // tool calls
	FailedTools  int          `json:"failedTools,omitempty"`
	Usage        Usage        `json:"usage,omitzero"`
	Task         uint64       `json:"task,omitempty"`    // as Timeline.Task was at End
	Waiting      []string     `json:"waiting,omitempty"` // as Timeline.Waiting was at End

	Import *SessionImported `json:"import,omitempty"` // of a RowImport
	Parent *Parent          `json:"parent,omitempty"` // of a RowFork
}

// RowKind says what a TimelineRow stands for.
type RowKind string

// The kinds. The last seven are changes of the session.
const (
	RowTurn    RowKind = "turn"
	RowMessage RowKind = "message" // without a turn
	RowMember  RowKind = "member"  // Text is how a member changed
	RowBudget  RowKind = "budget"  // Text is how a limit changed
	RowFiles   RowKind = "files"   // Text is what differs in a directory after a turn, or a restore
	RowTask    RowKind = "task"    // Text is the new task; "": it was removed
	RowTitle   RowKind = "title"   // Text is the new title
	RowImport  RowKind = "import"  // the rows before it were imported
	RowFork    RowKind = "fork"    // the session began as a copy of another
)

// OpenRow is a turn without an end.
type OpenRow struct {
	Row   int    `json:"row"`             // its index among all rows; that of Rows[0] is First
	Reply string `json:"reply,omitempty"` // the start of its recorded reply
	Waits
}

// The bounds of a row and of the other fields.
const (
	rowText    = 160     // code points of TimelineRow.Text
	rowSource  = 1 << 10 // bytes of the text that TimelineRow.Text is made of
	rowID      = 200     // bytes of an id, a name or a path
	rowWaiting = 50      // members
	rowMembers = 1000    // in Timeline.Members
	rowsOpen   = 1000    // rows after that of a turn before it counts as ended
)

// Apply adds one event to the timeline. It never fails: events that cannot be decoded
// add nothing.
func (t *Timeline) Apply(e journal.Event) {
	if p, _, err := decodeForFold(e); err == nil {
		t.apply(e, p)
	}
}

// ApplyEvent is Apply for an event that is decoded.
func (t *Timeline) ApplyEvent(e Event) {
	if e.Err == nil {
		t.apply(e.Event, e.Payload)
	}
}

func (t *Timeline) apply(e journal.Event, p Payload) {
	switch p := p.(type) {
	case SessionCreated:
		for _, m := range p.Team.Members {
			t.intern(m.Speaker())
		}
		if p.Parent != nil {
			t.addNote(e, TimelineRow{Kind: RowFork, Parent: &Parent{clip(p.Parent.SessionID), p.Parent.Seq}})
		}
	case SessionResumed:
		t.Waiting = nil // The queue does not survive a restart.
	case SessionRenamed:
		t.addNote(e, TimelineRow{Kind: RowTitle, Text: ChangeText(p)})
	case SessionImported:
		p.Source, p.Path = clip(p.Source), clip(p.Path)
		t.addNote(e, TimelineRow{Kind: RowImport, Import: &p})
	case TaskSet:
		t.setTask(e, p)
	case MemberChanged:
		if p.Added != nil {
			t.intern(p.Added.Speaker())
		}
		t.addNote(e, TimelineRow{Kind: RowMember, Text: ChangeText(p)})
	case BudgetChanged:
		t.addNote(e, TimelineRow{Kind: RowBudget, Text: ChangeText(p)})
	case FilesChanged, FilesRestored:
		t.addNote(e, TimelineRow{Kind: RowFiles, Text: ChangeText(p)})
	case QueueChanged:
		t.Waiting = nil
		for _, id := range p.Waiting {
			t.enqueue(id)
		}
	case MessageAppended:
		t.addMessage(e, p)
	case TurnStarted:
		t.dequeue(func(m Speaker) bool { return m.ID == clip(p.MemberID) })
		t.update(e, t.addTurn(e, p.TurnID, p.MemberID))
		t.Open = newest(append(t.Open, OpenRow{Row: t.First + len(t.Rows) - 1}), maxOpenTurns)
	default:
		t.updateTurn(e, p)
	}
}

// Final returns the number of Rows, from the first one on, that no later event changes.
func (t *Timeline) Final() int {
	if len(t.Open) == 0 {
		return len(t.Rows)
	}
	return t.Open[0].Row - t.First
}

// Forget removes the Final rows and counts them in First. What remains is bounded,
// whatever the length of the session.
func (t *Timeline) Forget() {
	n := t.Final()
	t.First, t.Rows = t.First+n, slices.Clone(t.Rows[n:])
}

// Clone returns a copy. Apply to one of them does not change the other.
func (t *Timeline) Clone() *Timeline {
	c := *t
	c.Rows, c.Open, c.Members = slices.Clone(t.Rows), slices.Clone(t.Open), slices.Clip(t.Members)
	return &c
}

func (t *Timeline) setTask(e journal.Event, p TaskSet) {
	t.Task = 0
	if p.Task != nil {
		t.Task = e.Seq
	}
	t.addNote(e, TimelineRow{Kind: RowTask, Text: ChangeText(p)})
}

func (t *Timeline) addMessage(e journal.Event, p MessageAppended) {
	m := p.Message
	by := t.intern(m.Speaker)
	p.TurnID, p.Message.Speaker = clip(p.TurnID), by
	recorded := "" // of the reply, in r.Text
	r, i := t.find(func(r *TimelineRow) bool { return r.Message == 0 && p.repliesIn(r.TurnID, r.Member.ID) })
	if r == nil {
		r = t.add(e, TimelineRow{Kind: RowMessage, Member: by})
	} else {
		recorded = t.Open[i].Reply
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
	if start := runecut.Prefix(m.Content, rowSource); start != recorded {
		r.Text = FirstWords(start)
	}
	t.update(e, r)
}

// updateTurn adds an event to the row of its turn. An end without a start has a row
// of its own.
func (t *Timeline) updateTurn(e journal.Event, p Payload) {
	byID := func(turnID string) (*TimelineRow, int) {
		return t.find(func(r *TimelineRow) bool { return r.TurnID == clip(turnID) })
	}
	var r *TimelineRow
	var i int
	switch p := p.(type) {
	case TurnText:
		if r, i = byID(p.TurnID); r != nil && r.Message == 0 {
			r.Text = t.Open[i].addText(p.Text)
		}
	case ToolStarted:
		if r, _ = byID(p.TurnID); r != nil {
			r.Tools++
		}
	case ToolCompleted:
		if r, _ = byID(p.TurnID); r != nil && p.Error != "" {
			r.FailedTools++
		}
	case PlanUpdated:
		r, _ = byID(p.TurnID)
	case PermissionBypassed:
		r, _ = byID(p.TurnID)
	case AgentAttached:
		r, _ = byID(p.TurnID)
	case AgentCompacted:
		r, _ = byID(p.TurnID)
	case TurnSteered:
		r, _ = byID(p.TurnID)
	case PermissionAnswered:
		if r, i = byID(p.TurnID); r != nil {
			t.Open[i].add(e, p)
		}
	case TurnEnded:
		if r, i = byID(p.TurnID); r == nil {
			r = t.addTurn(e, p.TurnID, p.MemberID)
		} else {
			t.Open = slices.Delete(t.Open, i, i+1)
		}
		r.end(p)
	}
	if r != nil {
		t.update(e, r)
	}
}

// end folds the end of a turn.
func (r *TimelineRow) end(p TurnEnded) {
	r.DurationMS, r.FinishReason = p.DurationMS, FinishReason(clip(string(p.FinishReason)))
	if p.Usage != nil {
		r.Usage = *p.Usage
	}
	if r.Message == 0 && p.Partial != "" {
		r.Text = FirstWords(p.Partial)
	}
}

// addText adds to the recorded reply and returns its first words.
func (o *OpenRow) addText(text string) string {
	o.Reply = strings.Clone(runecut.Prefix(o.Reply+text, rowSource))
	return FirstWords(o.Reply)
}

// add adds a row. Turns that have been open for long count as ended.
func (t *Timeline) add(e journal.Event, r TimelineRow) *TimelineRow {
	r.Seq, r.Time = e.Seq, e.Time
	t.Rows = append(t.Rows, r)
	for len(t.Open) > 0 && t.First+len(t.Rows)-t.Open[0].Row > rowsOpen {
		t.Open = t.Open[1:]
	}
	return &t.Rows[len(t.Rows)-1]
}

func (t *Timeline) addTurn(e journal.Event, turnID, memberID string) *TimelineRow {
	return t.add(e, TimelineRow{Kind: RowTurn, TurnID: clip(turnID), Member: t.member(memberID)})
}

func (t *Timeline) addNote(e journal.Event, r TimelineRow) { t.update(e, t.add(e, r)) }

// update makes e the last event of a row.
func (t *Timeline) update(e journal.Event, r *TimelineRow) {
	if r.Kind == RowTurn && r.FinishReason == "" {
		var waits Waits
		if open, i := t.find(func(other *TimelineRow) bool { return other == r }); open != nil {
			waits = t.Open[i].Waits
		}
		r.DurationMS = waits.Running(r.Time, e.Time).Milliseconds()
	}
	r.End, r.Task, r.Waiting = e.Seq, t.Task, t.Waiting
}

// find returns the newest open turn for which match holds, and its index in Open; nil: none.
func (t *Timeline) find(match func(*TimelineRow) bool) (*TimelineRow, int) {
	for i, open := range slices.Backward(t.Open) {
		if r := &t.Rows[open.Row-t.First]; match(r) {
			return r, i
		}
	}
	return nil, 0
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
// strings. It adds one if there is none, within rowMembers.
func (t *Timeline) intern(s Speaker) Speaker {
	s = Speaker{clip(s.ID), clip(s.Name), clip(s.DisplayName), clip(s.Type)}
	if i := slices.Index(t.Members, s); i >= 0 {
		return t.Members[i]
	}
	s = Speaker{strings.Clone(s.ID), strings.Clone(s.Name), strings.Clone(s.DisplayName), strings.Clone(s.Type)}
	if len(t.Members) < rowMembers {
		t.Members = append(t.Members, s)
	}
	return s
}

func clip(id string) string {
	if len(id) <= rowID {
		return id
	}
	return strings.Clone(runecut.Prefix(id, rowID))
}

// FirstWords returns the start of a message in one line, as TimelineRow.Text has it.
func FirstWords(content string) string {
	start := runecut.Prefix(content, rowSource)
	if strings.Contains(start, "[") { // as every marker begins
		start = marker.Strip(start)
	}
	return markdown.OneLine(start, rowText)
}

// Described is a change that describes itself in one line: of a member, a limit or files.
type Described interface {
	Payload
	Text() string
}

// ChangeText returns the first words of a new task or title, or describes a change in one line, as TimelineRow.Text has
// it; "": there is none.
func ChangeText(p Payload) string {
	switch p := p.(type) {
	case TaskSet:
		if p.Task != nil {
			return FirstWords(*p.Task)
		}
	case Described:
		return p.Text()
	case SessionRenamed:
		return shortText(lineBreak.Replace(head(p.Title)))
	}
	return ""
}

// shortText returns the start of a text without the memory of all of it.
func shortText(text string) string {
	short, _ := cutRunes(strings.TrimSpace(text), rowText)
	return strings.Clone(short)
}
