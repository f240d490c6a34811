package sessions

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// trashedText is for a session that was moved to the trash.
func trashedText(id, trash string) app.Message {
	return app.Text("Session %s was moved to the trash: %s", id, tty.SafeLine(trash)).With(app.To("restore it", "sessions", "restore", id))
}

// pinnedText is for a session that cannot be deleted because it is pinned.
func pinnedText(id string) app.Message {
	return app.Text("Session %s is pinned and was not deleted.", id).
		With(app.To("unpin it", "sessions", "unpin", id), app.To("delete it then", "sessions", "delete", id))
}

type Delete struct {
	ID  string `arg:"" help:"The session."`
	Yes bool   `short:"y" help:"Do not ask."`
}

// Help shows examples first.
func (Delete) Help() string {
	return `Examples:
  agent-chatter sessions delete 7QN3
  agent-chatter sessions delete 7QN3 --yes`
}

// Run implements the command.
func (cmd *Delete) Run(a *app.App) error {
	c := a.Catalog
	s, err := a.Find(context.Background(), cmd.ID)
	if err != nil {
		return err
	}
	if s.Pinned {
		return app.Exit(app.ExitFailed, pinnedText(s.ID))
	}
	if !cmd.Yes {
		if !a.IsTerminal() {
			return app.UsageError("Deleting needs a confirmation: add --yes to delete session %s.", s.ID)
		}
		yes, err := ask(a, fmt.Sprintf("Move session %s (%s) to the trash? [y/N] ", s.ID, tty.SafeLine(s.Title)))
		if err != nil || !yes {
			return err
		}
	}
	if err := c.At(s.Dir()).Delete(context.Background(), s.ID); err != nil {
		return err
	}
	a.Show(trashedText(s.ID, filepath.Join(s.Dir(), "trash")))
	return nil
}

// ask waits for a person to say yes or anything else.
func ask(a *app.App, question string) (bool, error) {
	fmt.Fprint(a.Stderr, question)
	answer, err := bufio.NewReader(a.Stdin).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, err
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes", nil
}
