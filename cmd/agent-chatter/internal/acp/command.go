package acp

import (
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/clientconfig"
)

// Command is the acp command.
type Command struct {
	Team string `short:"t" help:"The team of new sessions: a file or a name (default: demo)." placeholder:"TEAM"`

	PrintConfig *string `help:"Print the setup for an editor: ${enum}." enum:"zed,jetbrains,neovim,emacs" placeholder:"EDITOR"`
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter acp --print-config zed
  agent-chatter acp -t ~/teams/review.json --print-config jetbrains
  agent-chatter acp -t review`
}

// Writes reports that the command writes to the home, so that its failure is logged there.
func (*Command) Writes() bool { return true }

// Run implements the command. Without --print-config it ends when the client closes standard input, or at a signal.
func (cmd *Command) Run(a *app.App) error {
	if cmd.PrintConfig != nil {
		return clientconfig.PrintACP(a, *cmd.PrintConfig, cmd.Team)
	}
	config, err := a.Config()
	if err != nil {
		return err
	}
	if a.IsTerminal() {
		a.Show(terminalText())
	}
	// Without a handler, writing to a client that is gone would end the process, and turns with it. An ignored signal
	// would stay ignored in agents.
	gone := make(chan os.Signal, 1)
	signal.Notify(gone, syscall.SIGPIPE)
	defer signal.Stop(gone)
	ctx, stop := app.UntilSignal()
	defer stop()
	return newServer(a, config, cmd.team(a.Cwd)).serve(ctx, a.Stdin, stdout(a.Stdout))
}

// team returns the team of --team. A path starts in the working directory of the command, and not in that of a session,
// where a team is not trusted because the user has named it.
func (cmd *Command) team(cwd string) string {
	if strings.ContainsRune(cmd.Team, filepath.Separator) || strings.Contains(cmd.Team, "/") {
		if !filepath.IsAbs(cmd.Team) {
			return filepath.Join(cwd, cmd.Team)
		}
	}
	return cmd.Team
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
	return app.Text("This is for an editor, which speaks the Agent Client Protocol with it. Press Ctrl+D to end.").
		With(app.To("read how to set it up", "guide", "acp"))
}
