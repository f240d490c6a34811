//go:build unix

package agent_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func TestCodexGetsServers(t *testing.T) {
	turn := codexTurn(t, "args\nenv FILES_TOKEN\nenv AGENT_CHATTER_MCP_HEADER_1\nenv PATH")
	turn.MCPServers = testServers
	settings, text := unsupported(t, patientCodex, turn)
	lines := strings.Split(text, "\n")
	for _, want := range []string{
		`--config=mcp_servers.agent-chatter={command="/bin/own",args=["mcp","a\"b"],env={},env_vars=[],default_tools_approval_mode="approve"}`,
		`--config=mcp_servers.files={command="files",args=[],env={"PATH"="/other"},env_vars=["FILES_TOKEN"]}`,
		`--config=mcp_servers.web={url="http://h/mcp",env_http_headers={"Authorization"="AGENT_CHATTER_MCP_HEADER_1"}}`,
		"FILES_TOKEN=files-secret", "AGENT_CHATTER_MCP_HEADER_1=Bearer web-secret",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("no %s in %q", want, lines)
		}
	}
	if strings.Contains(text, "PATH=/other\n") || strings.Contains(text, "old-secret") || strings.Count(text, "-secret") != 2 {
		t.Errorf("Codex got what is not for it: %q", lines)
	}
	if !slices.Equal(settings, []string{agent.SettingMCPServers}) { // of the server old
		t.Errorf("unsupported: %q", settings)
	}
}

func TestCodexSkipsServersWithConflictingSecrets(t *testing.T) {
	turn := codexTurn(t, "args\nenv SHARED_TOKEN\nenv OPENAI_API_KEY")
	turn.Member.Env["SHARED_TOKEN"] = "of the member"
	turn.MCPServers = []agent.MCPServer{
		{Name: "a", Command: "a", Env: map[string]string{"SHARED_TOKEN": "another", "MODE": "x"}},
		{Name: "b", Command: "b", Env: map[string]string{"OPENAI_API_KEY": "another"}},
		{Name: "c", Command: "c", Env: map[string]string{"SHARED_TOKEN": "of the member"}},
	}
	settings, text := unsupported(t, patientCodex, turn)
	if strings.Contains(text, "mcp_servers.a") || strings.Contains(text, "mcp_servers.b") ||
		!strings.Contains(text, "mcp_servers.c") || !slices.Equal(settings, []string{agent.SettingMCPServers}) ||
		!strings.Contains(text, "SHARED_TOKEN=of the member") || strings.Contains(text, "another") {
		t.Errorf("Codex got %q; unsupported %q", text, settings)
	}
}
