package recall

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A saying is what an event says to a person.
type saying struct {
	kind, by, text string
	more           int // bytes of the text that are left out
}

// events reads the events of a session one by one.
type events struct {
	secrets *redact.Redactor
	state   projection.State     // of the first event, which names the members
	turns   map[string]string    // the members of the turns that have no end yet
	tools   map[[2]string]string // the names of the tools that have no result yet
}

// newEvents returns the events of a session. It reads only the first one.
func newEvents(r *journal.Reader, secrets *redact.Redactor) *events {
	e := &events{secrets: secrets, turns: map[string]string{}, tools: map[[2]string]string{}}
	for first, err := range r.All() {
		if err == nil {
			e.state.Apply(first)
		}
		break
	}
	return e
}

// maxCall is the length of what is shown of the input of a tool, and maxOutput of what it returned, in bytes.
const (
	maxCall   = 500
	maxOutput = 4 << 10
)

// read returns what an event says; ok is false if that is nothing. tools is a value of ReadInput.Tools.
func (e *events) read(event journal.Event, tools string) (s saying, ok bool) {
	payload, err := projection.Decode(event)
	if err != nil {
		return s, false
	}
	switch p := payload.(type) {
	case projection.MessageAppended:
		return saying{kind: "message", by: name(e.secrets, p.Message.Speaker), text: p.Message.Content}, true
	case projection.TurnStarted:
		e.turns[p.TurnID] = p.MemberID
	case projection.TurnEnded:
		e.turns[p.TurnID] = p.MemberID
		defer delete(e.turns, p.TurnID)
		return e.ended(p)
	case projection.TaskSet:
		if p.Task != nil {
			return saying{kind: "task", text: *p.Task}, true
		}
	case projection.ToolStarted:
		e.tools[[2]string{p.TurnID, p.ToolID}] = p.Name
		if tools == toolNone {
			return s, false
		}
		s = saying{kind: "tool call", by: e.member(p.TurnID)}
		s.text, s.more = cut(p.Name+": "+view.MainInput(p.Input), maxCall)
		return s, true
	case projection.ToolCompleted:
		return e.completed(p, tools)
	}
	return s, false
}

// ended returns what a turn that was not finished says.
func (e *events) ended(p projection.TurnEnded) (s saying, ok bool) {
	by := e.member(p.TurnID)
	switch {
	case p.Partial != "":
		more := max(0, int(p.PartialBytes)-len(p.Partial))
		return saying{kind: "unfinished reply", by: by, text: p.Partial, more: more}, true
	case p.Error != "":
		return saying{kind: "failed turn", by: by, text: p.Error}, true
	}
	return s, false
}

// completed returns what the result of a tool says.
func (e *events) completed(p projection.ToolCompleted, tools string) (s saying, ok bool) {
	key := [2]string{p.TurnID, p.ToolID}
	s.by = e.tools[key]
	if s.by == "" {
		s.by = p.Name
	}
	delete(e.tools, key)
	switch {
	case tools == toolNone, tools == toolCalls && p.Error == "":
		return s, false
	case p.Error != "":
		s.kind = "tool error"
		s.text, s.more = cut(p.Error, maxOutput)
		return s, true
	}
	s.kind = "tool result"
	s.text, s.more = cut(strings.TrimRight(p.Output, "\n"), maxOutput)
	s.more += max(0, int(p.OutputBytes)-len(p.Output))
	return s, true
}

// member returns the name of the member whose turn has an id; "" if its start was not read.
func (e *events) member(turnID string) string {
	id, ok := e.turns[turnID]
	if !ok {
		return ""
	}
	return name(e.secrets, e.state.Speaker(id))
}

// cut returns the start of a text, and how many bytes it lacks.
func cut(text string, most int) (start string, more int) {
	start = runecut.Prefix(text, most)
	return start, len(text) - len(start)
}
