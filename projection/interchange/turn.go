package interchange

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Turn is what an agent did for one of its messages, as far as the transcript
// records it.
type Turn struct {
	Model string
	Tools []Tool
	Usage *projection.Usage
}

// Tool is one call of a tool.
type Tool struct {
	id, Name  string
	Input     json.RawMessage
	Output    string // complete; the event has the first 64 KiB
	Error     string
	at, until time.Time
	completed bool
}

// toolOutput is how much of a tool's output an event has, in bytes.
const toolOutput = 64 << 10

// records returns the events of the turn that ended with a message.
func (u Turn) records(m projection.Message, trigger string, at time.Time) []journal.Record {
	records := []journal.Record{projection.Record(at, projection.TurnStarted{
		TurnID: m.ID, MemberID: m.Speaker.ID, AgentType: m.Speaker.ID, Model: u.Model, TriggerMessageID: trigger,
	})}
	for _, tool := range u.Tools {
		records = append(records, projection.Record(at, projection.ToolStarted{
			TurnID: m.ID, ToolID: tool.id, Name: tool.Name, Input: tool.Input,
		}))
		if !tool.completed {
			continue
		}
		completed := projection.ToolCompleted{
			TurnID: m.ID, ToolID: tool.id, Name: tool.Name, Output: tool.Output, Error: tool.Error,
		}
		if len(tool.Output) > toolOutput {
			completed.Output = strings.ToValidUTF8(tool.Output[:toolOutput], "")
			completed.OutputBytes = int64(len(tool.Output))
		}
		records = append(records, projection.Record(at, completed))
	}
	return append(records,
		projection.Record(at, projection.MessageAppended{Message: m}),
		projection.Record(at, projection.TurnEnded{
			TurnID: m.ID, MemberID: m.Speaker.ID, FinishReason: projection.Done, Usage: u.Usage,
		}))
}
