package agent

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/acp"
)

func TestLongInputReplacesAnEarlierOne(t *testing.T) {
	turn := &acpTurn{acpAgent: &acpAgent{habits: acpHabits{numbered: true}}, tools: map[string]*acpTool{"t1": {}}}
	turn.takeTool(acp.ToolUpdate{ID: "t1", Input: []byte(`{"command":"ls"}`)})
	long := []byte(`{"command":"` + strings.Repeat("x", maxOutput) + `"}`)
	if tool := turn.takeTool(acp.ToolUpdate{ID: "t1", Input: long}); tool.input != nil || tool.hidden.input != len(long) {
		t.Errorf("the input is %s, and %d bytes are hidden", tool.input, tool.hidden.input)
	}
	tool := turn.takeTool(acp.ToolUpdate{ID: "t1", Input: []byte(`{"command":"pwd"}`)})
	if string(tool.input) != `{"command":"pwd"}` || tool.hidden.input != 0 {
		t.Errorf("the input is %s, and %d bytes are hidden", tool.input, tool.hidden.input)
	}
}
