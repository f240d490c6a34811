package page

import (
	"cmp"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// Members are the members of a session's team, who have the colours of a page in their order.
type Members struct{ view.Members }

// NewMembers returns the members of a team.
func NewMembers(team []projection.Member) *Members {
	m := new(Members)
	m.AddMembers(team)
	return m
}

// ColorClass returns the class of a member's colour.
func (m *Members) ColorClass(id string) string { return colorClass(m.Color(id)) }

// Markdown returns the message of an item, or its partial reply, as it was written, after the name of its speaker.
func Markdown(i *conversation.Item) string {
	return "**" + i.Speaker.DisplayName + "**\n\n" + strings.TrimSpace(i.Text) + "\n"
}

// Whole returns the whole of a text of an item that HTML cuts: its message, or what a tool call that began with event
// seq was given or returned. of is the data-of of the cut; "" if there is no such text.
func Whole(i *conversation.Item, of string, seq uint64) string {
	if of == ofMessage {
		return i.Text
	}
	for _, step := range i.Steps {
		switch {
		case step.Call == nil || step.Seq != seq:
		case of == ofInput:
			return view.MainInput(step.Call.Started.Input)
		case of == ofOutput:
			return outputOf(step.Call)
		}
	}
	return ""
}

// outputOf returns what a tool returned, or its error.
func outputOf(c *conversation.Call) string {
	if c.Result == nil {
		return ""
	}
	return cmp.Or(c.Result.Error, c.Result.Output)
}
