package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection"
)

type sessionsRename struct {
	ID    string `arg:"" help:"The session."`
	Title string `arg:"" help:"Its new title."`
}

// Help shows examples first.
func (sessionsRename) Help() string {
	return `Examples:
  agent-chatter sessions rename 7QN3 "the calculator"`
}

// Run implements the command.
func (cmd *sessionsRename) Run(a *app) error {
	title := a.titleWithoutSecrets(strings.TrimSpace(safeLine(cmd.Title)))
	if title == "" {
		return usageError("A title cannot be empty.")
	}
	return a.decide(cmd.ID, projection.SessionRenamed{Title: title}, "is now called "+title)
}

type sessionsPin struct {
	ID string `arg:"" help:"The session."`
}

// Help shows examples first.
func (sessionsPin) Help() string {
	return `Examples:
  agent-chatter sessions pin latest`
}

// Run implements the command.
func (cmd *sessionsPin) Run(a *app) error {
	return a.decide(cmd.ID, projection.SessionPinned{Pinned: true}, "is pinned")
}

type sessionsUnpin struct {
	ID string `arg:"" help:"The session."`
}

// Help shows examples first.
func (sessionsUnpin) Help() string {
	return `Examples:
  agent-chatter sessions unpin latest`
}

// Run implements the command.
func (cmd *sessionsUnpin) Run(a *app) error {
	return a.decide(cmd.ID, projection.SessionPinned{Pinned: false}, "is not pinned any more")
}

// decide records what somebody decided about a session.
func (a *app) decide(name string, p projection.Payload, outcome string) error {
	c := a.catalog()
	s, err := a.find(c, name)
	if err != nil {
		return err
	}
	if err := c.At(s.Dir()).Append(context.TODO(), s.ID, projection.Record(now(), p)); err != nil {
		return err
	}
	a.notice(fmt.Sprintf("Session %s %s.", s.ID, outcome))
	return nil
}
