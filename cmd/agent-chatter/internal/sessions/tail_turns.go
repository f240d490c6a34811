package sessions

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// turnMembers are the ids of the members of turns that were started with others at the same time, by the ids of the
// turns. A nil turnMembers has none and stays empty.
type turnMembers map[string]string

var typeTurnStarted = projection.TypeOf(projection.TurnStarted{})

// ofTurn are the types of events that belong to a turn and do not name its member.
var ofTurn = map[string]bool{
	projection.TypeOf(projection.TurnText{}): true, projection.TypeOf(projection.PlanUpdated{}): true,
	projection.TypeOf(projection.ToolStarted{}): true, projection.TypeOf(projection.ToolCompleted{}): true,
	projection.TypeOf(projection.PermissionAnswered{}): true,
	projection.TypeOf(projection.PermissionBypassed{}): true,
}

// add adds a turn that starts.
func (m turnMembers) add(d conversation.Delta) {
	if began, ok := d.(conversation.Began); ok && began.Turn.Panel != nil && m != nil {
		m[began.Turn.ID] = began.Turn.Speaker.ID
	}
}

// read adds the turns that are open at a position.
func (m turnMembers) read(reader *journal.Reader, at journal.Position) {
	if m == nil {
		return
	}
	for e, err := range reader.After(conversation.OpenAt(reader, at)) {
		if err != nil || e.Seq > at.Seq {
			return
		}
		if e.Type == typeTurnStarted {
			m.add(conversation.Alone(projection.DecodeEvent(e)))
		}
	}
}

// of returns, after a separator, the member whose turn a delta belongs to, if it is in doubt.
func (m turnMembers) of(d conversation.Delta) string {
	switch d.(type) {
	case conversation.Began, conversation.Ended: // which have it
		return ""
	}
	if turn := conversation.TurnOf(d); turn != nil && m[turn.ID] != "" {
		return "  " + tty.SafeLine(m[turn.ID])
	}
	return ""
}
