package maintain

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// Restore is the command that takes a session out of the trash.
type Restore struct {
	ID string `arg:"" complete:"trashed" help:"The session: its id, or a prefix or suffix of it."`
}

// Help shows examples.
func (Restore) Help() string {
	return `Examples:
  agent-chatter sessions restore 7QN3`
}

// Run implements the command.
func (cmd *Restore) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	team, id, err := a.FindTrashed(cmd.ID)
	if err != nil {
		return err
	}
	err = team.Restore(ctx, id)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("session %s exists already", id)
	}
	if err != nil {
		return err
	}
	a.Notice(restoredText(id))
	return nil
}

func restoredText(id string) string { return fmt.Sprintf("Session %s was restored.", id) }
