package main

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

type sessionsMerge struct {
	A string `arg:"" complete:"id" help:"A session."`
	B string `arg:"" complete:"id" help:"Another of the same team."`
}

// Help shows examples first.
func (sessionsMerge) Help() string {
	return `Examples:
  agent-chatter sessions merge 7QN3 K2WD
  agent-chatter chat --resume $(agent-chatter sessions merge 7QN3 K2WD)`
}

// Run implements the command. It prints the id of the new session.
func (cmd *sessionsMerge) Run(a *app) error {
	c := a.catalog()
	var found [2]catalog.Session
	for i, name := range []string{cmd.A, cmd.B} {
		var err error
		if found[i], err = a.find(c, name); err != nil {
			return err
		}
	}
	switch first, second := found[0], found[1]; {
	case first.ID == second.ID:
		return usageError("%s", textTwoSessions)
	case first.Dir() != second.Dir():
		return &exitError{exitFailed, mergeTeamsText(first, second)}
	}
	merged, err := sessioncopy.Merge(context.TODO(), c.At(found[0].Dir()), found[0].ID, found[1].ID)
	if err != nil {
		return err
	}
	a.notice(mergedText(found[0].ID, found[1].ID, merged))
	_, err = fmt.Fprintln(a.stdout, merged.ID)
	return err
}
