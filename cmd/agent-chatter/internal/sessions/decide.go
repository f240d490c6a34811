package sessions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

type Rename struct {
	ID    string `arg:"" help:"The session."`
	Title string `arg:"" help:"Its new title."`
}

// Help shows examples first.
func (Rename) Help() string {
	return `Examples:
  agent-chatter sessions rename 7QN3 "the calculator"`
}

// Run implements the command.
func (cmd *Rename) Run(a *app.App) error {
	title := a.RedactTitle(strings.TrimSpace(tty.SafeLine(cmd.Title)))
	if title == "" {
		return app.UsageError("A title cannot be empty.")
	}
	return decide(a, cmd.ID, projection.SessionRenamed{Title: title}, "is now called "+title)
}

type Pin struct {
	ID string `arg:"" help:"The session."`
}

// Help shows examples first.
func (Pin) Help() string {
	return `Examples:
  agent-chatter sessions pin latest`
}

// Run implements the command.
func (cmd *Pin) Run(a *app.App) error {
	return decide(a, cmd.ID, projection.SessionPinned{Pinned: true}, "is pinned")
}

type Unpin struct {
	ID string `arg:"" help:"The session."`
}

// Help shows examples first.
func (Unpin) Help() string {
	return `Examples:
  agent-chatter sessions unpin latest`
}

// Run implements the command.
func (cmd *Unpin) Run(a *app.App) error {
	return decide(a, cmd.ID, projection.SessionPinned{Pinned: false}, "is not pinned any more")
}

// decide records what somebody decided about a session.
func decide(a *app.App, name string, p projection.Payload, outcome string) error {
	c := a.Catalog
	s, err := a.Find(context.Background(), name)
	if err != nil {
		return err
	}
	if err := c.At(s.Dir()).Append(context.Background(), s.ID, projection.Record(time.Now(), p)); err != nil {
		return err
	}
	a.Notice(fmt.Sprintf("Session %s %s.", s.ID, outcome))
	return nil
}
