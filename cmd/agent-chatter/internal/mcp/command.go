package mcp

import (
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/clientconfig"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp/recall"
)

// Command serves saved sessions over the Model Context Protocol.
type Command struct {
	Team string `complete:"team-id" help:"Only sessions of this team (default: all)." placeholder:"ID"`

	PrintConfig *string `help:"Print what to paste into the settings of: ${enum}." enum:"claude,codex,gemini,zed" placeholder:"AGENT"`
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter mcp --print-config claude
  agent-chatter mcp --team review --print-config zed
  agent-chatter mcp --team review`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	if cmd.PrintConfig != nil {
		return clientconfig.PrintMCP(a, *cmd.PrintConfig, cmd.arguments()...)
	}
	if a.IsTerminal() {
		a.Show(terminalText())
	}
	// Without a handler, writing to a client that is gone would end the process by a signal.
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	defer signal.Stop(gone)
	ctx, stop := a.UntilUnread()
	defer stop()
	a.HideProgress()
	server := recall.New(a, cmd.Team).Server(app.Version)
	return serveStreams(ctx, server, a.Stdin, stdout(a.Stdout))
}

// arguments returns the arguments of the command that a client starts.
func (cmd *Command) arguments() (args []string) {
	if cmd.Team != "" {
		args = append(args, "--team", cmd.Team)
	}
	return args
}

// stdout returns standard output itself: that a client is gone is no failure of the command.
func stdout(w io.Writer) io.Writer {
	if o, ok := w.(*app.Output); ok {
		return o.File
	}
	return w
}

// terminalText is for a user who types the command.
func terminalText() app.Message {
	return app.Text("This is for an agent, which speaks the Model Context Protocol with it. Press Ctrl+D to end.").
		With(app.To("read how to set it up", "guide", "mcp"))
}
