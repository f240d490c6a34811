package sessions

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Rename sets the title of a session.
type Rename struct {
	ID    string `arg:"" help:"The session: id, title or latest."`
	Title string `arg:"" help:"The new title."`
}

// Help returns examples.
func (Rename) Help() string {
	return `Examples:
  agent-chatter sessions rename 7QN3 "the calculator"`
}

// Run implements the command.
func (cmd *Rename) Run(a *app.App) error {
	return change(a, cmd.ID, "/rename TITLE", func(ctx context.Context, s catalog.Session) (outcome string, err error) {
		title, err := RenameSession(ctx, a, s, cmd.Title)
		return "is now called " + title, err
	})
}

// RenameSession sets the title of a session, on one line and without secrets, and returns it. It prints a notice about
// replaced secrets. Errors: those of catalog.Dir.Append and of app.Title.
func RenameSession(ctx context.Context, a *app.App, s catalog.Session, title string) (string, error) {
	secrets := a.Redactor(team.InheritedSecrets())
	title, err := app.Title(secrets.Text(title))
	a.ReportReplaced(secrets)
	if err != nil {
		return "", err
	}
	return title, appendTo(ctx, a, s, projection.SessionRenamed{Title: title})
}

// Pin protects a session from retention and deletion.
type Pin struct {
	ID string `arg:"" help:"The session: id, title or latest."`
}

// Help returns examples.
func (Pin) Help() string {
	return `Examples:
  agent-chatter sessions pin latest`
}

// Run implements the command.
func (cmd *Pin) Run(a *app.App) error {
	return change(a, cmd.ID, "/pin", func(ctx context.Context, s catalog.Session) (outcome string, err error) {
		return "is pinned", PinSession(ctx, a, s, true)
	})
}

// PinSession pins a session, or removes its pin. Errors: those of catalog.Dir.Append.
func PinSession(ctx context.Context, a *app.App, s catalog.Session, pinned bool) error {
	return appendTo(ctx, a, s, projection.SessionPinned{Pinned: pinned})
}

// Unpin undoes Pin.
type Unpin struct {
	ID string `arg:"" help:"The session: id, title or latest."`
}

// Help returns examples.
func (Unpin) Help() string {
	return `Examples:
  agent-chatter sessions unpin latest`
}

// Run implements the command.
func (cmd *Unpin) Run(a *app.App) error {
	return change(a, cmd.ID, "/unpin", func(ctx context.Context, s catalog.Session) (outcome string, err error) {
		return "is no longer pinned", PinSession(ctx, a, s, false)
	})
}

// change changes the session with a name, and prints the outcome. inChat is what does the same in the chat that has the
// session open.
func change(
	a *app.App, name, inChat string, do func(ctx context.Context, s catalog.Session) (outcome string, err error),
) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	s, err := a.Find(ctx, name)
	if err != nil {
		return err
	}
	outcome, err := do(ctx, s)
	if err == nil {
		a.Notice(changedText(s.ID, outcome))
	}
	if errors.Is(err, journal.ErrLocked) {
		return app.Exit(app.ExitLocked, openText(app.Explain(err), inChat))
	}
	return err
}

// openText is for a session that another process has open.
func openText(m app.Message, inChat string) app.Message {
	m.Text += "\nIf that is a chat, type there: " + inChat
	return m
}

// appendTo appends an event to a session.
func appendTo(ctx context.Context, a *app.App, s catalog.Session, p projection.Payload) error {
	dir := a.Catalog.At(s.Dir())
	problem, err := a.Remote.Change(ctx, dir, s.ID, func() error {
		return dir.Append(ctx, s.ID, projection.Record(time.Now(), p))
	})
	a.ReportHub(problem)
	return err
}

// changedText is for a session whose title or pin changed.
func changedText(id, outcome string) string { return fmt.Sprintf("Session %s %s.", id, outcome) }
