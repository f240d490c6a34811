package sessions

import (
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
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
	secrets := a.Redactor(team.InheritedSecrets())
	title := secrets.Text(strings.TrimSpace(tty.SafeLine(cmd.Title)))
	a.ReportReplaced(secrets)
	if title == "" {
		return app.UsageError("A title cannot be empty.")
	}
	return appendEvent(a, cmd.ID, projection.SessionRenamed{Title: title}, "is now called "+title)
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
	return appendEvent(a, cmd.ID, projection.SessionPinned{Pinned: true}, "is pinned")
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
	return appendEvent(a, cmd.ID, projection.SessionPinned{Pinned: false}, "is no longer pinned")
}

// appendEvent appends an event to the session with a name, and prints the outcome.
func appendEvent(a *app.App, name string, p projection.Payload, outcome string) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	s, err := a.Find(ctx, name)
	if err != nil {
		return err
	}
	if err := a.Catalog.At(s.Dir()).Append(ctx, s.ID, projection.Record(time.Now(), p)); err != nil {
		return err
	}
	a.Notice(changedText(s.ID, outcome))
	return nil
}

// changedText is for a session whose title or pin changed.
func changedText(id, outcome string) string { return fmt.Sprintf("Session %s %s.", id, outcome) }
