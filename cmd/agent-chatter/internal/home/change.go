package home

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Change calls change, which appends to a session that no process has open. If the session is shipped, Change claims it
// before and ships it after that. A hub that does not answer changes nothing: problem says that the event is only
// here. A session that another machine has claimed, or that diverged, is not changed.
func (c *Connection) Change(
	ctx context.Context, dir *catalog.Dir, id string, change func() error,
) (problem, err error) {
	settings, err := c.Settings()
	r := replica.Replica{Dir: dir, ID: id}
	if err != nil || len(settings.URLs) == 0 || !settings.Ships(r.Session().Team) {
		return nil, change()
	}
	problem = c.claim(ctx, r)
	if errors.As(problem, new(*hub.BehindError)) {
		if r.Hub, err = c.Hub(ctx); err == nil {
			err = fetch(ctx, r)
		}
		if err != nil && !hub.IsDamage(err) {
			return nil, err
		}
		problem = c.claim(ctx, r)
	}
	if errors.As(problem, new(*hub.ClaimedError)) || errors.As(problem, new(*hub.DivergedError)) {
		return nil, problem
	}
	failure := change()
	if problem != nil {
		return problem, failure
	}
	// After a failure, too: it releases the claim.
	if r.Hub, err = c.Hub(ctx); err == nil {
		_, err = r.Push(ctx, false)
	}
	return err, failure
}

// claim claims a session, unless a process has it open.
func (c *Connection) claim(ctx context.Context, r replica.Replica) error {
	log, err := r.Dir.Journals().Open(ctx, r.ID)
	if err != nil {
		return nil // change returns the error
	}
	defer log.Close()
	ctx, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	if r.Hub, err = c.Hub(ctx); err != nil {
		return err
	}
	_, err = r.Claim(ctx, false)
	return err
}

// Heal replaces the damaged journal of a session by the history of the hub and what follows it here. It returns the
// name of the file that keeps the previous journal, "" if the hub cannot repair it or there is none.
func (c *Connection) Heal(ctx context.Context, dir *catalog.Dir, id string) (aside string, err error) {
	settings, err := c.Settings()
	r := replica.Replica{Dir: dir, ID: id}
	if err != nil || len(settings.URLs) == 0 || !settings.Ships(r.Session().Team) {
		return "", err
	}
	ask, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	if r.Hub, err = c.Hub(ask); err != nil {
		return "", err
	}
	if row, err := r.Hub.Row(ask, r.Session()); err != nil || row.Head.Seq == 0 {
		return "", err
	}
	pulled, err := r.Pull(ctx)
	if corrupt := (*journal.CorruptError)(nil); errors.As(err, &corrupt) {
		return "", nil // there are lines here that do not follow those of the hub
	}
	if err == nil && pulled.Healed {
		aside = pulled.Aside
	}
	return aside, err
}

// MarkCopy notes, before a session is imported, that it is a copy of another one, which may be on the hub.
func (c *Connection) MarkCopy(dir *catalog.Dir, id, of string) error {
	settings, err := c.Configured()
	return hub.MarkCopy(vfs.OS, dir.Journals(), id, err == nil && len(settings.URLs) > 0, of)
}
