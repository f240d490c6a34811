package main

import (
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// followed is how many events of a session its watcher sees as JSON before those
// to come.
const followed = 10

// follow watches a session: it takes no lock and writes nothing.
func (cmd *chatCommand) follow(a *app) error {
	if err := cmd.check(); err != nil {
		return err
	}
	ctx, stop := a.follow()
	defer stop()
	team, id, err := cmd.toFollow(a)
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		tail := &tailCommand{N: followed, Follow: true, Output: cmd.Output}
		from, err := tail.last(a, team, id)
		if err != nil {
			return err
		}
		return tail.follow(ctx, a, team, id, from)
	}
	name := id
	if cmd.SessionFile != nil {
		name = *cmd.SessionFile
	}
	return a.followMessages(ctx, team, id, name)
}

// toFollow finds the session as a resume would, except that nobody needs the
// configuration of its team.
func (cmd *chatCommand) toFollow(a *app) (*catalog.Dir, string, error) {
	if cmd.SessionFile != nil {
		if !isJournal(*cmd.SessionFile) {
			return nil, "", usageError("%s", textFollowJournal)
		}
		return a.journalAt(*cmd.SessionFile)
	}
	team, err := cmd.team(a)
	if err != nil {
		return nil, "", err
	}
	c := a.catalog()
	session, err := a.findToResume(c, team, cmd.name())
	if err != nil {
		return nil, "", err
	}
	if team != nil && session.TeamID != team.ID {
		return nil, "", &store.TeamMismatchError{SessionID: session.ID, Want: session.TeamID, Got: team.ID}
	}
	if session.Truncated {
		a.notice(shrunkText(session))
	}
	return c.At(session.Dir()), session.ID, nil
}

// followMessages shows the last messages, where there are older ones, and those to come.
func (a *app) followMessages(ctx context.Context, team *catalog.Dir, id, name string) error {
	state, loaded, err := team.Load(context.TODO(), id)
	if err != nil {
		return err
	}
	a.notice(followingText(id, state.Row.Title))
	s := &screen{app: a, terminal: a.isTerminal()}
	if a.columns() > 0 {
		s.wrap.width = a.columns
	}
	last := lastOf(state.Recent)
	if older := state.Stats.Messages - len(last); older > 0 {
		a.notice(olderText(older, name))
	}
	for _, entry := range last {
		s.showEntry(entry)
	}
	for entry, err := range projection.ReplayFrom(state, team.Journals().Follow(ctx, id, loaded.At)) {
		switch {
		case err != nil:
			return &exitError{codeOf(err), followEndedText(id, err)}
		case ctx.Err() != nil: // a turn that still runs is not over
			return nil
		}
		s.showEntry(entry)
	}
	return nil
}
