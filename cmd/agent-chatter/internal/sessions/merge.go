package sessions

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// mergedText says what a session was made of.
func mergedText(a, b string, m sessioncopy.Merged) string {
	return fmt.Sprintf("Session %s has %s that both had, %d of %s and %d of %s, which stay as they are.", m.ID, app.Count(m.Common, "message"), m.A, a, m.B, b)
}

func mergeTeamsText(a, b catalog.Session) string {
	return fmt.Sprintf("Session %s is of the team '%s' and %s of '%s': only sessions of one team can be merged.", a.ID, tty.SafeLine(a.TeamID), b.ID, tty.SafeLine(b.TeamID))
}

type Merge struct {
	A string `arg:"" complete:"id" help:"A session."`
	B string `arg:"" complete:"id" help:"Another of the same team."`
}

// Help shows examples first.
func (Merge) Help() string {
	return `Examples:
  agent-chatter sessions merge 7QN3 K2WD
  agent-chatter chat --resume $(agent-chatter sessions merge 7QN3 K2WD)`
}

// Run implements the command. It prints the id of the new session.
func (cmd *Merge) Run(a *app.App) error {
	c := a.Catalog
	var found [2]catalog.Session
	for i, name := range []string{cmd.A, cmd.B} {
		var err error
		if found[i], err = a.Find(context.Background(), name); err != nil {
			return err
		}
	}
	switch first, second := found[0], found[1]; {
	case first.ID == second.ID:
		return app.UsageError("Both names are of the same session: name two.")
	case first.Dir() != second.Dir():
		return app.Exit(app.ExitFailed, app.Message{Text: mergeTeamsText(first, second)})
	}
	merged, err := sessioncopy.Merge(context.Background(), c.At(found[0].Dir()), found[0].ID, found[1].ID)
	if err != nil {
		return err
	}
	a.Notice(mergedText(found[0].ID, found[1].ID, merged))
	_, err = fmt.Fprintln(a.Stdout, merged.ID)
	return err
}
