package chat

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

func followingText(id, title string) string {
	return fmt.Sprintf("Watching session %s (%s), read-only. Press Ctrl+C to stop.",
		tty.SafeLine(id), tty.SafeLine(title))
}

// olderText is for messages that a resumed chat does not print again.
func olderText(n int, session string) app.Message {
	return app.Text("… %s not shown.", app.Count(n, "older message")).With(app.To("read all", "replay", session))
}

// followedEvents is how many old events --follow --output json prints.
const followedEvents = 10

// shownMessages is how many old messages and partial replies a resumed or followed chat prints.
const shownMessages = 6

// newest returns the entries of a session that are printed, and the number of its messages that are not.
func newest(entries []projection.Entry, messages int) (shown []projection.Entry, older int) {
	shown = entries[max(0, len(entries)-shownMessages):]
	for _, entry := range shown {
		if !entry.Partial {
			messages--
		}
	}
	return shown, messages
}

// follow prints a session until a signal. It takes no lock and writes nothing.
func (cmd *Command) follow(a *app.App) error {
	ctx, stop := a.UntilUnread()
	defer stop()
	if cmd.plain() {
		a.SetPlain()
	}
	dir, id, err := cmd.findToFollow(ctx, a)
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		tail := &sessions.Tail{N: followedEvents, Follow: true, Output: cmd.Output}
		return tail.Print(ctx, a, dir, id)
	}
	name := id
	if cmd.SessionFile != nil {
		name = *cmd.SessionFile
	}
	return followMessages(ctx, a, dir, id, name)
}

// findToFollow finds the session that the flags name. Its team configuration is not
// needed.
func (cmd *Command) findToFollow(ctx context.Context, a *app.App) (*catalog.Dir, string, error) {
	name, err := cmd.name(ctx, a)
	if err != nil {
		return nil, "", err
	}
	if cmd.SessionFile != nil {
		format, err := transfer.DetectFormat(*cmd.SessionFile)
		if err == nil && format != interchange.JournalFormat || !app.IsJournal(*cmd.SessionFile) {
			return nil, "", app.UsageError("--follow watches only a journal: name a file that ends in .jsonl.")
		}
		return a.JournalAt(*cmd.SessionFile)
	}
	var t *team.Team
	if cmd.Team != "" {
		if t, err = teams.Read(a, cmd.Team); err != nil {
			return nil, "", err
		}
	}
	session, err := a.FindToResume(ctx, t, name, nil)
	if err != nil {
		return nil, "", err
	}
	if t != nil && session.TeamID != t.ID {
		return nil, "", &store.TeamMismatchError{SessionID: session.ID, Want: session.TeamID, Got: t.ID}
	}
	a.ReportFaults(session)
	return a.Catalog.At(session.Dir()), session.ID, nil
}

// followMessages prints the newest messages of a session and those that follow.
func followMessages(ctx context.Context, a *app.App, dir *catalog.Dir, id, name string) error {
	if err := dir.Journals().Check(id); err != nil { // Load reads only what follows the checkpoint
		return err
	}
	state, loaded, err := dir.Load(ctx, id)
	if err != nil {
		return err
	}
	a.Notice(followingText(id, state.Row.Title))
	s := &view.Screen{App: a, Terminal: a.IsTerminal()}
	if tty.Columns(a.Stdout) > 0 {
		s.Wrap.Width = func() int { return tty.Columns(a.Stdout) }
	}
	ended := *state
	ended.OpenTurns = nil // Their replies follow.
	recent, older := newest(ended.Newest(), state.Stats.Messages)
	if older > 0 {
		a.Show(olderText(older, name))
	}
	for _, entry := range recent {
		s.ShowEntry(entry)
	}
	for entry, err := range projection.ReplayFrom(state, dir.Journals().Follow(ctx, id, loaded.At)) {
		switch {
		case err != nil:
			return app.Exit(app.CodeOf(err), app.FollowEndedText(id, err))
		case ctx.Err() != nil: // the entry may be of a turn that still runs
			return nil
		}
		s.ShowEntry(entry)
	}
	return nil
}
