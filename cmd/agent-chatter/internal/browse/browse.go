package browse

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Command opens the browser and resumes the session that the user chooses there.
type Command struct {
	Query  string `arg:"" optional:"" help:"Search for this text: titles, ids, teams, directories, messages."`
	Team   string `complete:"team-id" help:"Only sessions of this team." placeholder:"ID"`
	Here   bool   `help:"Only sessions that began in the working directory."`
	Output string `help:"Output format: ${enum}; json prints the list." enum:"text,json" default:"text"`

	Resume func(*app.App, Choice) error `kong:"-"` // runs a chat with the session
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter browse
  agent-chatter browse 'segmentation fault'
  agent-chatter browse --here --output json`
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	q := catalog.Query{Team: cmd.Team}
	if cmd.Here {
		q.CWD = a.Cwd
	}
	switch {
	case cmd.Output == "json":
		elsewhere, err := a.Remote.Elsewhere(ctx, a.Catalog)
		a.ReportHub(err)
		q.Text, q.Elsewhere = cmd.Query, elsewhere
		result, err := a.Catalog.List(ctx, q)
		if err != nil {
			return err
		}
		return sessions.WriteJSON(a.Stdout, result.Sessions)
	case !a.IsTerminal() || a.Plain:
		return app.Exit(app.ExitUsage, app.Text("browse needs a terminal.").
			With(app.To("list the sessions", "sessions"), app.To("search them", "sessions", "search", "TEXT")))
	}
	choice, err := Run(ctx, a, Options{Text: cmd.Query, Query: q})
	if err != nil || !choice.Chosen {
		return err
	}
	stop()
	return cmd.Resume(a, choice)
}
