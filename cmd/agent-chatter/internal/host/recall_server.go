package host

import (
	"os"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// RecallServer returns a function for coordinator.Options.Recall. The server is this program with the home of a.
func RecallServer(a *app.App) func(teamID string) agent.MCPServer {
	return func(teamID string) agent.MCPServer {
		program, err := os.Executable()
		if err != nil {
			program = os.Args[0]
		}
		args := []string{"--home", a.Home}
		if a.Remote != nil && a.Remote.Offline {
			args = append(args, "--offline")
		}
		args = append(args, "mcp")
		if teamID != "" {
			args = append(args, "--team="+teamID)
		}
		return agent.MCPServer{Name: "agent-chatter", Command: program, Args: args}
	}
}
