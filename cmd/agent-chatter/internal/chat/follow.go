package chat

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// followingText says that a session is watched.
func followingText(id, title string) string {
	return fmt.Sprintf("Watching session %s (%s). Nothing is written to it; Ctrl+C ends this.", tty.SafeLine(id), tty.SafeLine(title))
}

// olderText says how many messages are not shown again, and where they are.
func olderText(n int, session string) string {
	return fmt.Sprintf("… %s not shown here. To read all, type: agent-chatter replay %s", app.Count(n, "older message"), hint.Quote(session))
}

// followed is how many events of a session its watcher sees as JSON before those
// to come.
const followed = 10

// follow watches a session: it takes no lock and writes nothing.
func (cmd *Command) follow(a *app.Env) error {
	if err := cmd.check(); err != nil {
		return err
	}
	ctx, stop := a.Follow()
	defer stop()
	team, id, err := cmd.toFollow(a)
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		tail := &sessions.Tail{N: followed, Follow: true, Output: cmd.Output}
		from, err := tail.Last(a, team, id)
		if err != nil {
			return err
		}
		return tail.FollowSession(ctx, a, team, id, from)
	}
	name := id
	if cmd.SessionFile != nil {
		name = *cmd.SessionFile
	}
	return followMessages(a, ctx, team, id, name)
}

// toFollow finds the session as a resume would, except that nobody needs the
// configuration of its team.
func (cmd *Command) toFollow(a *app.Env) (*catalog.Dir, string, error) {
	if cmd.SessionFile != nil {
		if !app.IsJournal(*cmd.SessionFile) {
			return nil, "", app.UsageError("%s", app.TextFollowJournal)
		}
		return a.JournalAt(*cmd.SessionFile)
	}
	team, err := cmd.team(a)
	if err != nil {
		return nil, "", err
	}
	c := a.Catalog()
	session, err := a.FindToResume(c, team, cmd.name())
	if err != nil {
		return nil, "", err
	}
	if team != nil && session.TeamID != team.ID {
		return nil, "", &store.TeamMismatchError{SessionID: session.ID, Want: session.TeamID, Got: team.ID}
	}
	if session.Truncated {
		a.Notice(app.ShrunkText(session))
	}
	return c.At(session.Dir()), session.ID, nil
}

// followMessages shows the last messages, where there are older ones, and those to come.
func followMessages(a *app.Env, ctx context.Context, team *catalog.Dir, id, name string) error {
	state, loaded, err := team.Load(context.Background(), id)
	if err != nil {
		return err
	}
	a.Notice(followingText(id, state.Row.Title))
	s := &view.Screen{App: a, Terminal: a.IsTerminal()}
	if a.Columns() > 0 {
		s.Wrap.Width = a.Columns
	}
	last := lastOf(state.Recent)
	if older := state.Stats.Messages - len(last); older > 0 {
		a.Notice(olderText(older, name))
	}
	for _, entry := range last {
		s.ShowEntry(entry)
	}
	for entry, err := range projection.ReplayFrom(state, team.Journals().Follow(ctx, id, loaded.At)) {
		switch {
		case err != nil:
			return &app.ExitError{Code: app.CodeOf(err), Text: app.FollowEndedText(id, err)}
		case ctx.Err() != nil: // a turn that still runs is not over
			return nil
		}
		s.ShowEntry(entry)
	}
	return nil
}
