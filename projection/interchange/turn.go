package interchange

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A Turn is what an agent did for one of its messages, as far as a transcript of
// another program tells.
type Turn struct {
	Model string
	Tools []Tool
	Usage *projection.Usage
}

// Tool is one use of a tool.
type Tool struct {
	ID, Name  string
	Input     json.RawMessage
	Output    string // all of it; a journal keeps its beginning
	Error     string
	At, Until time.Time
	ended     bool
}

// toolOutput is how much of a tool's output a journal keeps, in bytes.
const toolOutput = 64 << 10

// records are the events of the turn that ended with a message.
func (u Turn) records(m projection.Message, trigger string, at time.Time) []journal.Record {
	records := []journal.Record{projection.Record(at, projection.TurnStarted{
		TurnID: m.ID, MemberID: m.Speaker.ID, AgentType: m.Speaker.ID, Model: u.Model, TriggerMessageID: trigger,
	})}
	for _, tool := range u.Tools {
		records = append(records, projection.Record(at, projection.ToolStarted{TurnID: m.ID, ToolID: tool.ID, Name: tool.Name, Input: tool.Input}))
		if tool.ended {
			records = append(records, projection.Record(at, tool.completed(m.ID)))
		}
	}
	return append(records, projection.Record(at, projection.MessageAppended{Message: m}),
		projection.Record(at, projection.TurnEnded{TurnID: m.ID, MemberID: m.Speaker.ID, FinishReason: projection.Done, Usage: u.Usage}))
}

func (t Tool) completed(turnID string) projection.ToolCompleted {
	done := projection.ToolCompleted{TurnID: turnID, ToolID: t.ID, Name: t.Name, Output: t.Output, Error: t.Error}
	if len(t.Output) > toolOutput {
		done.Output, done.OutputBytes = strings.ToValidUTF8(t.Output[:toolOutput], ""), int64(len(t.Output))
	}
	return done
}
