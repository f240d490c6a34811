package home

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// DivergedError reports that a session has other events on the hub than here. What is here is shown.
type DivergedError struct{ ID string }

func (e *DivergedError) Error() string { return "session " + e.ID + " has diverged from the hub" }

// Refresh fetches a session by its name if the hub has more of it than this machine; catalog.LatestName is the most
// recently updated one, here or there. A session that another process has open, or that was deleted here, is not
// fetched, and one that diverged is not changed. Without a hub Refresh does nothing. It asks the hub for at most
// AskTimeout; fetching takes as long as it takes.
func (c *Connection) Refresh(ctx context.Context, all *catalog.Catalog, name string) error {
	return c.refresh(ctx, all, name, replica.NewDeleted(all))
}

// RefreshDeleted is Refresh, also of a session that was deleted here.
func (c *Connection) RefreshDeleted(ctx context.Context, all *catalog.Catalog, name string) error {
	return c.refresh(ctx, all, name, nil)
}

// refresh is Refresh, also of deleted sessions except those of but. A command that names several sessions waits once
// for a hub that does not answer.
func (c *Connection) refresh(ctx context.Context, all *catalog.Catalog, name string, but *replica.Deleted) error {
	settings, err := c.Settings()
	if err != nil || none(settings) {
		return err
	}
	if err := c.silence.recent(); err != nil {
		return err
	}
	err = c.refreshFrom(ctx, settings, all, name, but)
	c.silence.note(err)
	return err
}

func (c *Connection) refreshFrom(
	ctx context.Context, settings HubSettings, all *catalog.Catalog, name string, but *replica.Deleted,
) error {
	local, _, findErr := all.Find(ctx, name)
	if findErr == nil && !settings.Ships(filepath.Base(local.Dir())) {
		return nil
	}
	if findErr == nil && name != catalog.LatestName {
		return c.refreshLocal(ctx, all.At(local.Dir()), local)
	}
	ask, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	h, err := c.Hub(ask)
	if err != nil {
		return err
	}
	newest, err := c.remote(ask, h, settings.Ships, name, but)
	if err != nil || newest == nil || findErr == nil && !newest.follows(local) {
		return err
	}
	dir := all.At(filepath.Join(all.Root(), newest.Session.Team))
	return fetch(ctx, replica.Replica{Hub: h, Dir: dir, ID: newest.Session.ID})
}

// silence remembers that a hub has not answered. It may be used concurrently.
type silence struct {
	mu  sync.Mutex
	err error // an *hub.UnavailableError; nil: it has answered
	at  time.Time
}

// recent returns why the hub has not answered, if that was not long ago.
func (s *silence) recent() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.at) > retryPause {
		return nil
	}
	return s.err
}

// note notes the answer to a question.
func (s *silence) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err = nil; errors.As(err, new(*hub.UnavailableError)) {
		s.err, s.at = err, time.Now()
	}
}

// follows reports whether the session on the hub is newer than the newest one here, or the same with more events: a
// new name is an event, and does not count as an update.
func (s *remoteSession) follows(local catalog.Session) bool {
	if s.Session.ID == local.ID {
		return s.Head.Seq > local.End.Seq
	}
	return s.updatedAt.After(local.UpdatedAt)
}

// refreshLocal is Refresh for a session that is here.
func (c *Connection) refreshLocal(ctx context.Context, dir *catalog.Dir, local catalog.Session) error {
	ask, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	h, err := c.Hub(ask)
	if err != nil {
		return err
	}
	return fetchIfBehind(ctx, ask, replica.Replica{Hub: h, Dir: dir, ID: local.ID}, local)
}

// fetchIfBehind fetches a session of which the hub has more events.
func fetchIfBehind(ctx, ask context.Context, r replica.Replica, local catalog.Session) error {
	row, err := r.Hub.Row(ask, r.Session())
	switch {
	case err != nil && row.Revision == 0:
		return err
	case err == nil && (row.Purged || row.Head.Seq <= local.End.Seq):
		return nil
	}
	return fetch(ctx, r) // also if the last message, which any writer can publish, cannot be read
}

// fetch appends what the hub has more.
func fetch(ctx context.Context, r replica.Replica) error {
	fetched, err := r.Fetch(ctx)
	switch {
	case errors.Is(err, journal.ErrLocked), errors.Is(err, hub.ErrPurged):
		return nil // what is here is shown
	case err != nil:
		return err
	case fetched.Diverged():
		return &DivergedError{r.ID}
	}
	return fetched.Damage
}

// remoteSession is a session on the hub.
type remoteSession struct {
	hub.Row
	updatedAt time.Time
}

// remote returns the session on the hub that a name means: the newest one for catalog.LatestName, otherwise the only
// one whose id has that part; nil: there is none. but are not meant; nil: all may be.
func (c *Connection) remote(
	ctx context.Context, h *hub.Hub, ships func(string) bool, name string, but *replica.Deleted,
) (found *remoteSession, err error) {
	matches, deletedErr := 0, error(nil)
	meant := func(s hub.Session) bool {
		if but == nil {
			return true
		}
		deleted, err := but.Has(ctx, s)
		deletedErr = errors.Join(deletedErr, err)
		return !deleted
	}
	err = h.Rows(ctx, "", func(r hub.Row) {
		// The last message may be of any writer: a session that is named in full is read whatever that message is.
		hidden := r.Err != nil || r.Head.Seq == 0
		if hidden && r.Session.ID != name || r.Purged || !ships(r.Session.Team) {
			return
		}
		s := &remoteSession{r, replica.DecodeRow(r).UpdatedAt}
		switch {
		case name != catalog.LatestName && catalog.MatchesID(r.Session.ID, name) && meant(r.Session):
			found, matches = s, matches+1
		case name == catalog.LatestName && (found == nil || s.updatedAt.After(found.updatedAt)) && meant(r.Session):
			found = s
		}
	})
	if err = errors.Join(err, deletedErr); err != nil || matches > 1 {
		return nil, err
	}
	return found, nil
}

// List returns the sessions of the shipped teams, here and on the hub. Without a hub there are none. It asks for at
// most AskTimeout.
func (c *Connection) List(ctx context.Context, all *catalog.Catalog) ([]replica.Status, error) {
	settings, err := c.Settings()
	if err != nil || none(settings) {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	h, err := c.Hub(ctx)
	if err != nil {
		return nil, err
	}
	return replica.List(ctx, h, all, settings.Ships)
}

// CountMissing returns how many sessions that were not deleted here have events on the hub that are not here.
func (c *Connection) CountMissing(ctx context.Context, all *catalog.Catalog) (n int, err error) {
	return c.CountMissingOf(ctx, all, "")
}

// CountMissingOf is CountMissing for the sessions of the team in a directory, or of all teams if its name is "".
func (c *Connection) CountMissingOf(ctx context.Context, all *catalog.Catalog, directory string) (n int, err error) {
	list, err := c.List(ctx, all)
	for _, s := range list {
		if directory != "" && s.Session.Team != directory {
			continue
		}
		if s.Relation == replica.OnlyHub && !s.Deleted || s.Relation == replica.Behind {
			n++
		}
	}
	return n, err
}

// Follow fetches what the hub has more, now and each time when it gets more, of the session with an id in a
// directory, until ctx is done. Without a hub it returns at once.
func (c *Connection) Follow(ctx context.Context, dir *catalog.Dir, id string) error {
	settings, err := c.Settings()
	r := replica.Replica{Dir: dir, ID: id}
	if err != nil || none(settings) || !settings.Ships(r.Session().Team) {
		return err
	}
	if r.Hub, err = c.Hub(ctx); err != nil {
		return err
	}
	return r.Hub.Watch(ctx, r.Session().Team, func(m hub.Stored) {
		if m.Session == r.Session() {
			keepUp(ctx, r, m)
		}
	})
}

// keepUp fetches a session that is here, if a message has more of it.
func keepUp(ctx context.Context, r replica.Replica, m hub.Stored) {
	if m.Revision <= r.Mark().Revision {
		return
	}
	if local, err := r.Dir.Session(ctx, r.ID); err == nil {
		_ = fetchIfBehind(ctx, ctx, r, local) // the next message tries again
	}
}
