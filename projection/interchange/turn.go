package interchange

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A turn is what an agent does up to one of its messages, or up to the next one.
// Its records are emitted as they are read, except for the end, and the message
// unless tools follow it: what follows the message may still belong to the turn.
type turn struct {
	id             string
	by             projection.Speaker
	started, until time.Time
	saved          time.Time // when the session was last saved; zero: unknown
	calls          []call    // without a result; the newest maxCalls
	passed         bool      // a person wrote after the calls
	reply          *projection.Message
	emitted        bool                    // the reply was
	finish         projection.FinishReason // "": done if there is a reply, else interrupted
	failure        string
	usage          *projection.Usage
}

// call is a call of a tool that has no result yet.
type call struct{ id, name string }

// maxCalls bounds the calls without a result, each of which a result is compared with.
const maxCalls = 1000

// beginTurn returns the current turn, or begins one. Without an id, the turn
// gets one from its number.
func (t *transcript) beginTurn(id string, at time.Time) *turn {
	if u := t.turn; u != nil &&
		(u.reply != nil && !t.toolsFollow || u.finish != "" || u.passed || u.by != t.agent) {
		t.endTurn()
	}
	if t.turn == nil {
		t.turns++
		if id == "" {
			id = fmt.Sprintf("%s-turn-%d", t.id, t.turns)
		}
		id = label(id)
		started := t.updated
		if started.IsZero() || started.After(at) {
			started = at
		}
		t.turn = &turn{id: id, by: t.agent, started: started, until: started}
		t.emit(started, projection.TurnStarted{
			TurnID: id, MemberID: t.agent.ID, AgentType: t.agent.ID, Model: label(t.model), TriggerMessageID: t.trigger,
		})
	}
	t.turn.until = later(t.turn.until, at)
	return t.turn
}

// endTurn emits the end of the current turn, if there is one.
func (t *transcript) endTurn() {
	u := t.turn
	if u == nil {
		return
	}
	for _, c := range slices.Clone(u.calls) { // without a result; a subagent may have written nevertheless
		if said := t.addSubagent(c.id, ""); said != "" {
			t.completeTool(c.id, said, "", u.until)
		}
	}
	finish := u.finish
	switch {
	case finish != "":
	case u.reply != nil && !(t.toolsFollow && len(u.calls) > 0):
		finish = projection.Done
	default:
		finish = projection.Interrupted
	}
	if !t.toolsFollow {
		t.emitReply()
	}
	t.turn = nil
	ended := projection.TurnEnded{
		TurnID: u.id, MemberID: u.by.ID, FinishReason: finish, Usage: u.usage, Error: u.failure,
	}
	if !t.untimed {
		ended.DurationMS = u.until.Sub(u.started).Milliseconds()
	}
	t.emit(later(u.until, u.saved), ended)
}

// emitReply emits the message of the current turn, if it has one that was not emitted.
func (t *transcript) emitReply() {
	if m := t.turn.reply; m != nil && !t.turn.emitted {
		t.turn.emitted = true
		at, _ := parseTime(m.Timestamp) // which FormatTime wrote
		t.emit(at, projection.MessageAppended{Message: *m})
	}
}

// stopTurn sets why the current turn ended, even if it has a reply. If the agent
// has done nothing yet since the person's message, that is a turn, too.
func (t *transcript) stopTurn(id string, reason projection.FinishReason, failure string, at time.Time) {
	at = t.timeOf(at)
	if t.turn == nil || t.turn.finish == projection.Failed {
		t.beginTurn(id, at)
	}
	t.turn.until = later(t.turn.until, at)
	t.turn.finish, t.turn.failure = reason, strings.ToValidUTF8(runecut.Prefix(failure, maxFailure), "\uFFFD")
	t.addTime(at)
}

// startTool adds a call of a tool to the turn. Its input is JSON that an event may have, or it
// becomes a string; one that is too long is left out.
func (t *transcript) startTool(id, name string, input json.RawMessage, at time.Time) {
	id, name = label(id), label(name)
	switch {
	case len(input) > maxContent:
		input = nil
	case !json.Valid(input), projection.OutOfRange(input):
		input, _ = json.Marshal(string(input))
	}
	at = t.timeOf(at)
	u := t.beginTurn(id, at)
	if len(u.calls) == maxCalls {
		u.calls = slices.Delete(u.calls, 0, 1)
	}
	u.calls = append(u.calls, call{id, name})
	t.emit(at, projection.ToolStarted{TurnID: u.id, ToolID: id, Name: name, Input: input})
	t.addTime(at)
}

// completeTool adds the result of a tool. The result of an unknown call is
// skipped.
func (t *transcript) completeTool(id, output, failure string, at time.Time) {
	i := -1
	if id = label(id); t.turn != nil {
		i = slices.IndexFunc(t.turn.calls, func(c call) bool { return c.id == id })
	}
	if i < 0 {
		t.skipped++
		return
	}
	at = t.timeOf(at)
	u := t.turn
	completed := projection.ToolCompleted{
		TurnID: u.id, ToolID: id, Name: u.calls[i].name, Output: output,
		Error: strings.ToValidUTF8(runecut.Prefix(failure, maxOutput), "\uFFFD"),
	}
	if len(output) > maxOutput {
		completed.Output = output[:maxOutput]
		completed.OutputBytes = int64(len(output))
	}
	completed.Output = strings.ToValidUTF8(completed.Output, "")
	u.calls, u.passed = slices.Delete(u.calls, i, i+1), false
	u.until = later(u.until, at)
	t.emit(at, completed)
	t.addTime(at)
}

// addUsage adds tokens to the turn. It follows the message or the tool calls
// that they paid for.
func (t *transcript) addUsage(usage projection.Usage) {
	if usage == (projection.Usage{}) {
		return
	}
	if t.turn == nil {
		t.beginTurn("", t.updated)
	}
	if t.turn.usage == nil {
		t.turn.usage = &projection.Usage{}
	}
	t.turn.usage.Add(usage)
}

// emit passes a record on, unless only the header is read.
func (t *transcript) emit(at time.Time, p projection.Payload) {
	if t.sink != nil {
		t.sink(at, p)
		return
	}
	if t.yield != nil && !t.stopped {
		t.stopped = !t.yield(projection.Record(at, p))
	}
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
