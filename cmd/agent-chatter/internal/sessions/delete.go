package sessions

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Delete moves a session to the trash.
type Delete struct {
	ID  string `arg:"" help:"The session: id, title or latest."`
	Yes bool   `short:"y" help:"Delete without confirmation."`
}

// Help returns examples.
func (Delete) Help() string {
	return `Examples:
  agent-chatter sessions delete 7QN3
  agent-chatter sessions delete 7QN3 --yes`
}

// Run implements the command. Without --yes it asks on a terminal, and fails with
// ExitUsage elsewhere.
func (cmd *Delete) Run(a *app.App) error {
	ctx := context.Background() // Not UntilSignal: Ctrl+C ends the program while it waits for the answer.
	s, err := a.Find(ctx, cmd.ID)
	if err != nil {
		return err
	}
	if !cmd.Yes && !s.Pinned {
		if !a.IsTerminal() {
			return app.Exit(app.ExitUsage, confirmText(s.ID))
		}
		if yes, err := a.Confirm(deleteQuestionText(s.ID, s.Title)); err != nil || !yes {
			return err
		}
	}
	if err := TrashSession(ctx, a, s); err != nil {
		return err
	}
	a.Show(trashedText(s.ID, filepath.Join(s.Dir(), "trash")))
	return nil
}

// TrashSession moves a session to the trash, unless it is pinned. Errors: those of catalog.Dir.Delete, and one of
// ExitFailed if the session is pinned.
func TrashSession(ctx context.Context, a *app.App, s catalog.Session) error {
	if s.Pinned {
		return app.Exit(app.ExitFailed, pinnedText(s.ID))
	}
	return a.Catalog.At(s.Dir()).Delete(ctx, s.ID)
}

// pinnedText is for a session that is not deleted because it is pinned.
func pinnedText(id string) app.Message {
	return app.Text("Session %s is pinned and was not deleted.", id).
		With(app.To("unpin it", "sessions", "unpin", id), app.To("delete it then", "sessions", "delete", id))
}

// confirmText is for a deletion that cannot be confirmed because there is no terminal.
func confirmText(id string) app.Message {
	return app.Text("Deleting session %s needs a confirmation.", id).
		With(app.To("confirm it", "sessions", "delete", id, "--yes"))
}

func deleteQuestionText(id, title string) string {
	return fmt.Sprintf("Move session %s (%s) to the trash?", id, tty.SafeLine(title))
}

func trashedText(id, trash string) app.Message {
	return app.Text("Session %s was moved to the trash: %s", id, tty.SafeLine(trash)).
		With(app.To("restore it", "sessions", "restore", id))
}
