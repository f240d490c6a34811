package mcp

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp/recall"
)

// Command serves saved sessions over the Model Context Protocol.
type Command struct {
	Team string `complete:"team-id" help:"Only sessions of this team (default: all)." placeholder:"ID"`
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  claude mcp add agent-chatter -- agent-chatter mcp
  agent-chatter mcp --team review`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	ctx, stop := a.UntilUnread()
	defer stop()
	a.HideProgress()
	server := recall.New(a, cmd.Team).Server(app.Version)
	return serveStreams(ctx, server, a.Stdin, a.Stdout)
}
