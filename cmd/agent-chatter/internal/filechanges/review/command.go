package review

import (
	"cmp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Command shows the changes of files on the whole terminal.
type Command struct {
	ID string `arg:"" optional:"" help:"The session: id, title or latest (default: latest)."`
}

// Help returns examples.
func (Command) Help() string {
	return `Examples:
  agent-chatter files review
  agent-chatter files review 7QN3`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	if !a.IsTerminal() || a.Plain {
		return app.Exit(app.ExitUsage, noTerminalText(cmp.Or(cmd.ID, catalog.LatestName)))
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	s, err := a.Find(ctx, cmp.Or(cmd.ID, catalog.LatestName))
	if err != nil {
		return err
	}
	return Run(ctx, a, s, nil)
}
