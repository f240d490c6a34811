package conversation

import (
	"bytes"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A Turn is a turn of an agent. Its exported fields do not change, except that the Speaker of a turn whose start was
// not seen is unknown, or a guess from the next message, until its end names it.
type Turn struct {
	ID        string
	Speaker   projection.Speaker // ID "": unknown
	AgentType string
	Model     string
	Panel     *projection.Panel // nil: it was started alone
	Began     uint64            // Seq of its turn.started; 0: it was not seen
	Time      time.Time         // of its first event

	last     Source // its newest event
	reply    reply
	recorded strings.Builder         // the start of the reply as the journal has it, with markers
	bytes    int64                   // length of the recorded reply
	unread   []byte                  // the data of turn.text events that are not in recorded yet, a line each
	streamed bool                    // by Stream: the text of later events was shown
	replied  bool                    // its message was appended
	stepped  bool                    // it has a tool call or a plan
	calls    []*Call                 // without a result, in their order
	answers  []answer                // to requests whose call has not started
	plan     *projection.PlanUpdated // nil: none
}

// An answer is an answer to a request for permission.
type answer struct {
	projection.PermissionAnswered
	at time.Time
}

// The bounds of an open turn.
const (
	maxRecorded = 1 << 20 // bytes
	maxCalls    = 4096
	maxAnswers  = 100
)

// Shown returns the text of the deltas so far.
func (t *Turn) Shown() string { return t.reply.shown.String() }

// Replied reports whether the turn has its message.
func (t *Turn) Replied() bool { return t.replied }

// Running returns the newest tool call without a result; false: there is none.
func (t *Turn) Running() (Call, bool) {
	if len(t.calls) == 0 {
		return Call{}, false
	}
	return *t.calls[len(t.calls)-1], true
}

func (t *Turn) record(text string) {
	if t.bytes == int64(t.recorded.Len()) {
		t.recorded.WriteString(runecut.Prefix(text, maxRecorded-t.recorded.Len()))
	}
	t.bytes += int64(len(text))
}

// recordLater adds the data of a turn.text event to the recorded reply. It is decoded when it is needed: most turns end
// with a message that repeats it.
func (t *Turn) recordLater(data []byte) {
	t.unread = append(append(t.unread, data...), '\n')
	if len(t.unread) > maxRecorded {
		t.length()
	}
}

// length returns the length of the recorded reply.
func (t *Turn) length() int64 {
	for line := range bytes.Lines(t.unread) {
		t.record(projection.RecordedText(bytes.TrimSuffix(line, []byte("\n"))))
	}
	t.unread = t.unread[:0]
	return t.bytes
}

// text returns the start of the recorded reply.
func (t *Turn) text() string {
	t.length()
	return t.recorded.String()
}

// common returns the length of what a complete reply and the recorded text have in common, which limits the positions
// of calls and plans in the reply.
func (t *Turn) common(complete string) int64 {
	if !t.stepped {
		return 0
	}
	recorded, n := t.recorded.String(), 0
	for n < min(len(recorded), len(complete)) && recorded[n] == complete[n] {
		n++
	}
	return int64(n)
}

// planned reports whether the turn has a todo list already.
func (t *Turn) planned(p projection.PlanUpdated) bool {
	return t.plan != nil && t.plan.More == p.More && slices.Equal(t.plan.Entries, p.Entries)
}

func (t *Turn) start(seq uint64, p projection.ToolStarted, at time.Time) *Call {
	c := &Call{Seq: seq, Started: p, Time: at, At: t.length(), began: at}
	c.Started.Input = slices.Clone(p.Input) // that of an event is valid until the next one
	if i := slices.IndexFunc(t.answers, func(a answer) bool { return a.ToolID == p.ToolID }); i >= 0 {
		c.Answer = &t.answers[i].PermissionAnswered
		t.answers = slices.Delete(slices.Clone(t.answers), i, i+1)
	}
	t.stepped = true
	t.calls = append(t.calls[max(0, len(t.calls)-maxCalls+1):], c)
	return c
}

func (t *Turn) answer(p projection.PermissionAnswered, at time.Time) {
	if c := t.call(p.ToolID); c != nil {
		c.answer(p, at)
		return
	}
	t.answers = append(t.answers[max(0, len(t.answers)-maxAnswers+1):], answer{p, at})
}

func (t *Turn) complete(p projection.ToolCompleted, at time.Time) Call {
	c := t.call(p.ToolID)
	if c == nil {
		started := projection.ToolStarted{TurnID: p.TurnID, ToolID: p.ToolID, Name: p.Name}
		return Call{Started: started, At: t.length(), Result: &p}
	}
	t.calls = slices.DeleteFunc(t.calls, func(open *Call) bool { return open == c })
	c.complete(p, at)
	return *c
}

// call returns the newest open call with an id; nil: none.
func (t *Turn) call(toolID string) *Call {
	for _, c := range slices.Backward(t.calls) {
		if c.Started.ToolID == toolID {
			return c
		}
	}
	return nil
}

// takeOpen returns and forgets the calls without a result.
func (t *Turn) takeOpen() []Call {
	var open []Call
	for _, c := range t.calls {
		c.Over = true
		open = append(open, *c)
	}
	t.calls = nil
	return open
}
