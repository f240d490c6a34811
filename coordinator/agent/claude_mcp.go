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

// claudeMCP adds the servers to those that the user has configured. They are in a file: the arguments of a program
// can be read by other users.
func claudeMCP(_ Member, servers []MCPServer) (mcpSetup, error) {
	configured := map[string]claudeServer{}
	var allowed []string
	for _, s := range servers {
		configured[s.Name] = claudeServer{s.Type, s.Command, s.Args, s.Env, s.URL, s.Headers}
		if s.ReadOnly {
			allowed = append(allowed, "--allowedTools=mcp__"+s.Name)
		}
	}
	content, err := json.Marshal(map[string]any{"mcpServers": configured})
	if err != nil {
		return mcpSetup{}, err
	}
	path, remove, err := newRunFile("mcp.json", content)
	if err != nil {
		return mcpSetup{}, err
	}
	return mcpSetup{args: append([]string{"--mcp-config=" + path}, allowed...), remove: remove}, nil
}
