package recall

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A saying is what an event says to a person.
type saying struct {
	kind, by, text string
	more           int // bytes of the text that are left out
}

// sayings are what the events of a session say, one by one. They may begin anywhere.
type sayings struct {
	secrets      *redact.Redactor
	tools        string // a value of ReadInput.Tools
	conversation *conversation.Conversation
}

func newSayings(r *journal.Reader, secrets *redact.Redactor, tools string) *sayings {
	return &sayings{secrets, tools, conversation.Continued(conversation.FirstMembers(r))}
}

// maxCall is the length of what is shown of the input of a tool, and maxOutput of what it returned, in bytes.
const (
	maxCall   = 500
	maxOutput = 4 << 10
)

// next returns what the next event says; ok is false if that is nothing.
func (s *sayings) next(e projection.Event) (said saying, ok bool) {
	for _, d := range s.conversation.Apply(e) {
		if said, ok = s.of(d); ok {
			return said, true
		}
	}
	return said, false
}

// of returns what a delta says.
func (s *sayings) of(d conversation.Delta) (said saying, ok bool) {
	if turn := conversation.TurnOf(d); turn != nil && turn.Speaker.ID != "" {
		said.by = name(s.secrets, turn.Speaker)
	}
	switch d := d.(type) {
	case conversation.Said:
		return saying{kind: "message", by: name(s.secrets, d.Message.Speaker), text: d.Text()}, true
	case conversation.Replied:
		return saying{kind: "message", by: name(s.secrets, d.Message.Speaker), text: d.Message.Content}, true
	case conversation.Changed:
		if p, ok := d.Payload.(projection.TaskSet); ok && p.Task != nil {
			return saying{kind: "task", text: *p.Task}, true
		}
	case conversation.Called:
		said.kind = "tool call"
		said.text, said.more = cut(d.Call.Started.Name+": "+view.MainInput(d.Call.Started.Input), maxCall)
		return said, s.tools != toolNone
	case conversation.Completed:
		return s.result(d.Call)
	case conversation.Ended:
		switch {
		case d.End == nil:
		case d.End.Partial != "":
			said.kind, said.text = "unfinished reply", d.End.Partial
			said.more = max(0, int(d.End.PartialBytes)-len(d.End.Partial))
			return said, true
		case d.End.Error != "":
			said.kind, said.text = "failed turn", d.End.Error
			return said, true
		}
	}
	return saying{}, false
}

// result returns what the result of a tool says.
func (s *sayings) result(c conversation.Call) (said saying, ok bool) {
	said.by = c.Started.Name
	if c.State() != conversation.OK {
		text := c.Result.Error
		switch c.State() {
		case conversation.Refused:
			text = strings.TrimSpace("refused\n" + text)
		case conversation.Bypassed:
			text = strings.TrimSpace("done without permission\n" + c.Result.Output)
		}
		said.kind = "tool error"
		said.text, said.more = cut(text, maxOutput)
		return said, s.tools != toolNone
	}
	said.kind = "tool result"
	said.text, said.more = cut(strings.TrimRight(c.Result.Output, "\n"), maxOutput)
	said.more += max(0, int(c.Result.OutputBytes)-len(c.Result.Output))
	return said, s.tools == toolResults
}

// cut returns the start of a text, and how many bytes it lacks.
func cut(text string, most int) (start string, more int) {
	start = runecut.Prefix(text, most)
	return start, len(text) - len(start)
}
