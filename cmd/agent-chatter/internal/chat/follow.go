package chat

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// followingText says that a session is watched.
func followingText(id, title string) string {
	return fmt.Sprintf("Watching session %s (%s). Nothing is written to it; Ctrl+C ends this.", tty.SafeLine(id), tty.SafeLine(title))
}

// olderText is for messages that a resumed chat does not print again.
func olderText(n int, session string) app.Message {
	return app.Text("… %s not shown.", app.Count(n, "older message")).With(app.To("read all", "replay", session))
}

// followed is how many events of a session its watcher sees as JSON before those
// to come.
const followed = 10

// follow watches a session: it takes no lock and writes nothing.
func (cmd *Command) follow(a *app.App) error {
	if err := cmd.check(); err != nil {
		return err
	}
	ctx, stop := a.UntilUnread()
	defer stop()
	team, id, err := cmd.toFollow(ctx, a)
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		tail := &sessions.Tail{N: followed, Follow: true, Output: cmd.Output}
		return tail.Print(ctx, a, team, id)
	}
	name := id
	if cmd.SessionFile != nil {
		name = *cmd.SessionFile
	}
	return followMessages(a, ctx, team, id, name)
}

// toFollow finds the session as a resume would, except that nobody needs the
// configuration of its team.
func (cmd *Command) toFollow(ctx context.Context, a *app.App) (*catalog.Dir, string, error) {
	if cmd.SessionFile != nil {
		if !app.IsJournal(*cmd.SessionFile) {
			return nil, "", app.UsageError("--follow watches only a journal: name a file that ends in .jsonl.")
		}
		return a.JournalAt(*cmd.SessionFile)
	}
	team, err := cmd.team(a)
	if err != nil {
		return nil, "", err
	}
	c := a.Catalog
	session, err := a.FindToResume(ctx, team, cmd.name())
	if err != nil {
		return nil, "", err
	}
	if team != nil && session.TeamID != team.ID {
		return nil, "", &store.TeamMismatchError{SessionID: session.ID, Want: session.TeamID, Got: team.ID}
	}
	if session.Truncated {
		a.Notice(app.TruncatedText(session))
	}
	return c.At(session.Dir()), session.ID, nil
}

// followMessages shows the last messages, where there are older ones, and those to come.
func followMessages(a *app.App, ctx context.Context, team *catalog.Dir, id, name string) error {
	state, loaded, err := team.Load(ctx, id)
	if err != nil {
		return err
	}
	a.Notice(followingText(id, state.Row.Title))
	s := &view.Screen{App: a, Terminal: a.IsTerminal()}
	if tty.Columns(a.Stdout) > 0 {
		s.Wrap.Width = func() int { return tty.Columns(a.Stdout) }
	}
	last := lastOf(state.Recent)
	if older := state.Stats.Messages - len(last); older > 0 {
		a.Show(olderText(older, name))
	}
	for _, entry := range last {
		s.ShowEntry(entry)
	}
	for entry, err := range projection.ReplayFrom(state, team.Journals().Follow(ctx, id, loaded.At)) {
		switch {
		case err != nil:
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, err))
		case ctx.Err() != nil: // a turn that still runs is not over
			return nil
		}
		s.ShowEntry(entry)
	}
	return nil
}
