package projection_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A replay does not read the output of a tool, but finds its error wherever Record writes it.
func TestReplayFindsErrorsOfTools(t *testing.T) {
	for data, want := range map[string]string{
		`{"turnId":"t1","toolId":"u1"}`:                                                  "",
		`{"turnId":"t1","toolId":"u1","output":"\"error\":\"no\""}`:                      "",
		`{"turnId":"t1","toolId":"u1","output":"7","outputBytes":7}`:                     "",
		`{"turnId":"t1","toolId":"u1","error":"exit 1"}`:                                 "exit 1",
		`{"turnId":"t1","toolId":"u1","name":"Bash","output":"x","error":"exit 1"}`:      "exit 1",
		`{"turnId":"t1","toolId":"u1","output":"x","outputBytes":7,"error":"exit 1"}`:    "exit 1",
		`{"turnId": "t1", "toolId": "u1", "output": "x", "error": "exit 1"}`:             "exit 1",
		`{"toolId":"u1","turnId":"t1","error":"exit 1"}`:                                 "exit 1",
		`{"turnId":"t1","toolId":"u1","error":"exit 1","more":"x"}`:                      "exit 1",
		`{"turnId":"t1","toolId":"u1","output":"` + "\xff" + `","error":"\ud83d\ude00"}`: "😀",
	} {
		events := session(t,
			record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
			record(projection.ToolStarted{TurnID: "t1", ToolID: "u1", Name: "Bash"}),
			journal.Record{Type: "tool.completed", Data: json.RawMessage(data)},
		)
		for entry, err := range projection.Replay(each(events)) {
			if err != nil || len(entry.Steps) != 1 || !entry.Steps[0].Ended || entry.Steps[0].Error != want {
				t.Errorf("%s: %+v, %v", data, entry.Steps, err)
			}
			if diff := cmp.Diff(fold(events...).OpenTurns[0].Steps, entry.Steps); diff != "" {
				t.Errorf("%s (-State +Replay):\n%s", data, diff)
			}
		}
	}
}
