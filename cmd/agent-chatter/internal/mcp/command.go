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

	HTTP      string `name:"http" help:"Serve HTTP at this address of the machine; port 0 is any free one." placeholder:"127.0.0.1:PORT"`
	TokenFile string `help:"File with the token for --http (default: a new random one)." placeholder:"PATH"`
	Output    string `help:"Output format of --http: ${enum}." enum:"text,json" default:"text"`

	PrintConfig *string `help:"Print the setup for an agent: ${enum}." enum:"claude,codex,gemini,zed" placeholder:"AGENT"`
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter mcp --print-config claude
  agent-chatter mcp --team review --print-config zed
  agent-chatter mcp --http 127.0.0.1:8765 --token-file token`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	switch {
	case cmd.PrintConfig != nil && (cmd.HTTP != "" || cmd.TokenFile != "" || cmd.Output == "json"):
		return app.UsageError("--print-config is for standard input and output, and prints text.")
	case cmd.PrintConfig != nil:
		return clientconfig.PrintMCP(a, *cmd.PrintConfig, cmd.arguments()...)
	}
	server := recall.New(a, cmd.Team).Server(app.ThisBuild().Version)
	switch {
	case cmd.HTTP != "":
		return cmd.serveHTTP(a, server)
	case cmd.TokenFile != "", cmd.Output == "json":
		return app.UsageError("--token-file and --output json are for --http.")
	case a.IsTerminal():
		a.Show(terminalText())
	}
	// Without a handler, writing to a client that is gone would end the process by a signal. It stays: a write may
	// last until the process ends.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := a.UntilUnread()
	defer stop()
	a.HideProgress()
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
