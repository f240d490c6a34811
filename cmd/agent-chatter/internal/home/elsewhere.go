package home

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// Elsewhere returns the sessions of the shipped teams that are only on the hub, or that another machine writes.
// Without a hub there are none: nil. It asks for at most AskTimeout.
func (c *Connection) Elsewhere(ctx context.Context, all *catalog.Catalog) (*catalog.Elsewhere, error) {
	found, _, err := c.elsewhere(ctx, all)
	return found, err
}

// elsewhere returns the revision of the newest message, too.
func (c *Connection) elsewhere(
	ctx context.Context, all *catalog.Catalog,
) (*catalog.Elsewhere, hub.Revision, error) {
	settings, err := c.Settings()
	if err != nil || none(settings) {
		return nil, 0, err
	}
	ctx, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	h, err := c.Hub(ctx)
	if err != nil {
		return nil, 0, err
	}
	return replica.Elsewhere(ctx, h, all, settings.Ships)
}

// The times of Watch.
const (
	retryPause  = 10 * time.Second // after a hub has not answered
	rowsPause   = time.Second      // between two looks at all rows
	rowsPortion = 20               // they are read for at most 1/rowsPortion of the time
)

// Watch calls report with what Elsewhere returns: now, each time when it may have changed, and while the hub does not
// answer with its error. It fetches what the hub has more of the sessions that are here, now and each time when it gets
// more. It returns when ctx is done, and without a hub at once. report is not called concurrently.
func (c *Connection) Watch(ctx context.Context, all *catalog.Catalog, report func(*catalog.Elsewhere, error)) {
	settings, err := c.Settings()
	if err != nil {
		report(nil, err)
	}
	if err != nil || none(settings) {
		return
	}
	var newest atomic.Uint64 // the revision that is reported
	changed := make(chan struct{}, 1)
	var follower sync.WaitGroup
	defer follower.Wait()
	follower.Go(func() {
		c.followAll(ctx, all, settings.Ships, func(r hub.Revision) {
			if uint64(r) > newest.Load() {
				select {
				case changed <- struct{}{}:
				default: // a look follows
				}
			}
		})
	})
	for {
		began := time.Now()
		found, revision, err := c.elsewhere(ctx, all)
		if ctx.Err() != nil {
			return
		}
		pause := max(rowsPause, rowsPortion*time.Since(began))
		if err != nil {
			pause = retryPause
		} else {
			newest.Store(uint64(revision))
		}
		report(found, err)
		if !sleep(ctx, pause) {
			return
		}
		if err != nil {
			continue
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
	}
}

// followAll is Follow for all sessions that are here. It calls seen for each message, and tries again if the hub does
// not answer.
func (c *Connection) followAll(
	ctx context.Context, all *catalog.Catalog, ships func(string) bool, seen func(hub.Revision),
) {
	for {
		ask, stop := context.WithTimeout(ctx, AskTimeout)
		h, err := c.Hub(ask)
		if stop(); err == nil {
			_ = h.Watch(ctx, "", func(m hub.Stored) { // Watch of Connection reports the error
				if !m.Session.Valid() || !ships(m.Session.Team) {
					return
				}
				seen(m.Revision)
				dir := all.At(filepath.Join(all.Root(), m.Session.Team))
				keepUp(ctx, replica.Replica{Hub: h, Dir: dir, ID: m.Session.ID}, m)
			})
		}
		if !sleep(ctx, retryPause) {
			return
		}
	}
}

// sleep returns false if ctx is done.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// Fetch fetches a session that is only on the hub, or what the hub has more of it. It asks the hub for at most
// AskTimeout; fetching takes as long as it takes. Errors: ErrNoHub; hub.ErrPurged; a *journal.LockedError if another
// process fetches it; a *catalog.NotFoundError if the hub does not have it; those of Refresh.
func (c *Connection) Fetch(ctx context.Context, dir *catalog.Dir, id string) error {
	settings, err := c.Settings()
	if err != nil {
		return err
	}
	r := replica.Replica{Dir: dir, ID: id}
	if none(settings) || !settings.Ships(r.Session().Team) {
		return ErrNoHub
	}
	ask, stop := context.WithTimeout(ctx, AskTimeout)
	defer stop()
	if r.Hub, err = c.Hub(ask); err != nil {
		return err
	}
	row, err := r.Hub.Row(ask, r.Session())
	switch {
	case err != nil && row.Revision == 0:
		return err
	case row.Purged:
		return hub.ErrPurged
	case row.Revision == 0:
		return &catalog.NotFoundError{Name: id}
	}
	// The last message may be of any writer: what precedes it is fetched.
	fetched, err := r.Fetch(ctx)
	switch {
	case err != nil:
		return err
	case fetched.Local.Seq == 0 && fetched.Damage == nil:
		return &catalog.NotFoundError{Name: id}
	case fetched.Diverged():
		return &DivergedError{id}
	}
	return fetched.Damage
}

// Session returns a session of a directory, after fetching it if it is not here. Errors: those of catalog.Dir.Session
// and of Fetch; if it is nowhere, and without a hub, that of catalog.Dir.Session.
func (c *Connection) Session(ctx context.Context, dir *catalog.Dir, id string) (catalog.Session, error) {
	s, missing := dir.Session(ctx, id)
	if !errors.Is(missing, journal.ErrNotFound) {
		return s, missing
	}
	err := c.Fetch(ctx, dir, id)
	if errors.Is(err, ErrNoHub) || errors.As(err, new(*catalog.NotFoundError)) {
		return s, missing
	}
	fetched, missing := dir.Session(ctx, id)
	if err != nil && missing != nil {
		return s, err
	}
	return fetched, missing // what is valid was fetched; opening it returns what is not
}
