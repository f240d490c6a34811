package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

func TestRealAgentsUseServers(t *testing.T) {
	withRealAgents(t, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		server := agenttest.MCPServer("agent-chatter", map[string]string{agenttest.MCPToken: "token-4711"})
		server.Setting, server.ReadOnly = "recall", true
		turn.MCPServers = []agent.MCPServer{server}
		turn.Prompt = `call <<` + realToolName(a) + ` {"text": "an oak"}>>`
		var tools []string
		for event, err := range e.Run(within(t), turn) {
			if err != nil {
				t.Error(err)
				break
			}
			switch e := event.(type) {
			case agent.ToolStarted:
				tools = append(tools, fmt.Sprintf("started %s %s", e.Name, e.Input))
			case agent.ToolCompleted:
				tools = append(tools, fmt.Sprintf("completed %s %q %s", e.Name, e.Output, e.Error))
			case agent.Unsupported:
				t.Errorf("unsupported: %s", e.Setting)
			}
		}
		const want = "look of an oak with token-4711"
		if !model.Received(want) || len(tools) != 2 || !strings.Contains(tools[0], "look") ||
			!strings.Contains(tools[0], "agent-chatter") || !strings.Contains(tools[1], want) {
			t.Errorf("the model got the text: %t; the tools were %q", model.Received(want), tools)
		}
		t.Logf("%q", tools)
	})
}

// TestRealCLIsDoNotUseServersWithoutPermission has a server that may change something. No user can be asked.
func TestRealCLIsDoNotUseServersWithoutPermission(t *testing.T) {
	withRealAgents(t, func(t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		if a.SpeaksACP() {
			return // it asks Turn.Permit
		}
		turn.Permit, turn.Member.Permissions = nil, agent.ReadOnly
		turn.MCPServers = []agent.MCPServer{agenttest.MCPServer("agent-chatter", nil)}
		turn.Prompt = `call <<` + strings.TrimSuffix(realToolName(a), "look") + `change {"text": "an oak"}>>`
		tried := ""
		for event, err := range e.Run(within(t), turn) {
			if err != nil { // some stop when they are not allowed to continue
				tried += err.Error()
			} else if e, ok := event.(agent.ToolCompleted); ok {
				tried += e.Error
			}
		}
		if tried == "" || model.Received("change of an oak") {
			t.Errorf("the tool was used: %t; the turn reported %q", model.Received("change of an oak"), tried)
		}
	})
}

// realToolName returns the agent's name of the tool look of the server agent-chatter.
func realToolName(a agenttest.Real) string {
	switch strings.TrimSuffix(a.Name, " over ACP") {
	case "codex":
		return "mcp__agent_chatter.look"
	case "gemini":
		return "mcp_agent-chatter_look"
	case "opencode":
		return "agent-chatter_look"
	}
	return "mcp__agent-chatter__look"
}
