package agent

import "encoding/json"

// A claudeServer is an MCP server in the configuration of Claude Code.
type claudeServer struct {
	Type    string            `json:"type,omitempty"`
	Command string            `json:"command,omitempty"`
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`
	URL     string            `json:"url,omitempty"`
	Headers map[string]string `json:"headers,omitempty"`
}

// claudeServers are the servers of a session.
type claudeServers struct {
	args     []string
	harmless []string // rules that allow the tools of servers that change nothing
	remove   func()   // removes the file in args
}

// claudeMCP adds the servers to those that the user has configured. They are in a file: the arguments of a program
// can be read by other users.
func claudeMCP(servers []MCPServer) (claudeServers, error) {
	configured := map[string]claudeServer{}
	var setup claudeServers
	for _, s := range servers {
		configured[s.Name] = claudeServer{s.Type, s.Command, s.Args, s.Env, s.URL, s.Headers}
		if s.ReadOnly {
			setup.harmless = append(setup.harmless, "mcp__"+s.Name)
		}
	}
	content, err := json.Marshal(map[string]any{"mcpServers": configured})
	if err != nil {
		return claudeServers{}, err
	}
	path, remove, err := newRunFile("mcp.json", content)
	if err != nil {
		return claudeServers{}, err
	}
	setup.args, setup.remove = []string{"--mcp-config=" + path}, remove
	for _, rule := range setup.harmless {
		setup.args = append(setup.args, "--allowedTools="+rule)
	}
	return setup, nil
}
