package maintain

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
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
	team, id, err := a.FindTrashed(ctx, cmd.ID)
	if err != nil {
		return err
	}
	if err := RestoreSession(ctx, team, id); err != nil {
		return err
	}
	a.Notice(restoredText(id))
	return nil
}

// RestoreSession moves a session out of the trash of a team. Errors: those of catalog.Dir.Restore.
func RestoreSession(ctx context.Context, team *catalog.Dir, id string) error {
	err := team.Restore(ctx, id)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("session %s exists already", id)
	}
	return err
}

func restoredText(id string) string { return fmt.Sprintf("Session %s was restored.", id) }
