package sessions

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// Merge writes a new session that contains the common prefix of two sessions and what
// each has after it.
type Merge struct {
	A      string `arg:"" complete:"id" help:"A session: id, title or latest."`
	B      string `arg:"" complete:"id" help:"Another session of the same team."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns examples.
func (Merge) Help() string {
	return `Examples:
  agent-chatter sessions merge 7QN3 K2WD
  agent-chatter chat --resume $(agent-chatter sessions merge 7QN3 K2WD)`
}

// Run implements the command. It prints the id of the new session.
func (cmd *Merge) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	sessionA, err := a.Find(ctx, cmd.A)
	if err != nil {
		return err
	}
	sessionB, err := a.Find(ctx, cmd.B)
	if err != nil {
		return err
	}
	switch {
	case sessionA.ID == sessionB.ID:
		return app.UsageError("%s", textSameSession)
	case sessionA.Dir() != sessionB.Dir():
		return app.Exit(app.ExitFailed, app.Message{Text: otherTeamText(sessionA, sessionB)})
	}
	merged, err := sessioncopy.Merge(ctx, a.Catalog.At(sessionA.Dir()), sessionA.ID, sessionB.ID)
	if err != nil {
		return err
	}
	a.Notice(mergedText(sessionA.ID, sessionB.ID, merged))
	return printID(a, cmd.Output, merged.ID)
}

func mergedText(a, b string, m sessioncopy.Merged) string {
	return fmt.Sprintf("Session %s contains %s, %d from %s and %d from %s.",
		m.ID, app.Count(m.Common, "common message"), m.A, a, m.B, b)
}

func otherTeamText(a, b catalog.Session) string {
	return fmt.Sprintf("Session %s is of team '%s' and session %s of team '%s'. "+
		"Only sessions of one team can be merged.", a.ID, tty.SafeLine(a.TeamID), b.ID, tty.SafeLine(b.TeamID))
}
