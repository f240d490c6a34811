package chat

import (
	"context"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// followedEvents is how many old events --follow --output json prints.
const followedEvents = 10

// follow prints a session until a signal. It takes no lock and writes nothing.
func (cmd *Command) follow(a *app.App) error {
	ctx, stop := a.UntilUnread()
	defer stop()
	if cmd.Plain {
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
	session, err := cmd.find(ctx, a, t, name, nil)
	if err != nil {
		return nil, "", err
	}
	if t != nil && session.TeamID != t.ID {
		return nil, "", &store.TeamMismatchError{SessionID: session.ID, Want: session.TeamID, Got: t.ID}
	}
	a.ReportFaults(session)
	return a.Catalog.At(session.Dir()), session.ID, nil
}
