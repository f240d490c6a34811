package changes

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/maintain"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Changes runs changes of sessions. Its methods may be called concurrently.
type Changes struct {
	app *app.App

	mu   sync.Mutex
	last map[catalog.Key]chan struct{} // closed at the end of the newest change of the session
}

// New returns a Changes of the sessions in a.Catalog. It prints nothing.
func New(a *app.App) *Changes {
	return &Changes{app: a, last: map[catalog.Key]chan struct{}{}}
}

// A Change is a change that has begun. A call waits for its end; it may be called several times.
type Change func() (Result, error)

// Result is what a change did. Its texts are safe for a terminal.
type Result struct {
	Session catalog.Key // that was changed; of Fork: the new one
	Text    string      // what was done, on one line
	Notices string      // what the command prints besides, such as replaced secrets; "": nothing

	// Undo begins the change that takes this one back. nil: it cannot be taken back.
	Undo func(ctx context.Context) Change
}

// Rename sets the title of a session.
func (c *Changes) Rename(ctx context.Context, key catalog.Key, title string) Change {
	return c.begin(ctx, key, func(a *app.App, s catalog.Session) (Result, error) {
		recorded, err := sessions.RenameSession(ctx, a, s, title)
		r := Result{Session: key, Text: renamedText(recorded)}
		if s.Title != "" {
			r.Undo = func(ctx context.Context) Change { return c.Rename(ctx, key, s.Title) }
		}
		return r, err
	})
}

// Pin pins a session, or removes its pin.
func (c *Changes) Pin(ctx context.Context, key catalog.Key, pinned bool) Change {
	return c.begin(ctx, key, func(a *app.App, s catalog.Session) (Result, error) {
		undo := func(ctx context.Context) Change { return c.Pin(ctx, key, s.Pinned) }
		return Result{Session: key, Text: pinText(pinned), Undo: undo}, sessions.PinSession(ctx, a, s, pinned)
	})
}

// Trash moves a session to the trash, unless it is pinned. One that is only on the hub is not fetched for that.
func (c *Changes) Trash(ctx context.Context, key catalog.Key) Change {
	return c.enqueue(ctx, key, func(a *app.App) (Result, error) {
		s, err := a.Catalog.At(key.Dir).Session(ctx, key.ID)
		if err != nil {
			return Result{}, err
		}
		undo := func(ctx context.Context) Change { return c.Restore(ctx, key) }
		return Result{Session: key, Text: trashedText(s), Undo: undo}, sessions.TrashSession(ctx, a, s)
	})
}

// Restore moves a session out of the trash.
func (c *Changes) Restore(ctx context.Context, key catalog.Key) Change {
	return c.enqueue(ctx, key, func(a *app.App) (Result, error) {
		dir := a.Catalog.At(key.Dir)
		if err := maintain.RestoreSession(ctx, dir, key.ID); err != nil {
			return Result{}, err
		}
		s, err := dir.Session(ctx, key.ID)
		if err != nil {
			s = catalog.Session{ID: key.ID} // an empty journal is no session
		}
		return Result{Session: key, Text: restoredText(s)}, nil
	})
}

// Fork copies a session up to an event, or all of it if seq is 0.
func (c *Changes) Fork(ctx context.Context, key catalog.Key, seq uint64) Change {
	return c.begin(ctx, key, func(a *app.App, s catalog.Session) (Result, error) {
		id, err := sessions.ForkSession(ctx, a, s, point(seq))
		return Result{Session: catalog.Key{Dir: key.Dir, ID: id}, Text: sessions.ForkedText(key.ID, id)}, err
	})
}

// Export writes a session to a new file, in the format of its extension. A leading ~/ in its path is the home
// directory of the user. An existing file is never replaced.
func (c *Changes) Export(ctx context.Context, key catalog.Key, path string) Change {
	return c.begin(ctx, key, func(a *app.App, s catalog.Session) (Result, error) {
		path, err := absolute(path)
		if err == nil {
			path, err = transfer.ExportSession(ctx, a, s, path)
		}
		return Result{Session: key, Text: transfer.WrittenText(path, transfer.FormatOf(path))}, err
	})
}

// begin begins a change of a session, which is fetched before if it is only on the hub.
func (c *Changes) begin(
	ctx context.Context, key catalog.Key, do func(*app.App, catalog.Session) (Result, error),
) Change {
	return c.enqueue(ctx, key, func(a *app.App) (Result, error) {
		s, err := a.Catalog.At(key.Dir).Session(ctx, key.ID)
		if errors.Is(err, journal.ErrNotFound) {
			s, err = c.fetch(ctx, key, err)
		}
		if err != nil {
			return Result{}, err
		}
		return do(a, s)
	})
}

// fetch fetches a session from the hub that is neither here nor in the trash. missing is returned if it is nowhere.
func (c *Changes) fetch(ctx context.Context, key catalog.Key, missing error) (s catalog.Session, err error) {
	if err := c.explainMissing(ctx, key, missing); !errors.As(err, new(*catalog.NotFoundError)) {
		return s, err
	}
	return c.app.Remote.Session(ctx, c.app.Catalog.At(key.Dir), key.ID)
}

// enqueue begins a change after those of the same session that have begun.
func (c *Changes) enqueue(ctx context.Context, key catalog.Key, do func(*app.App) (Result, error)) Change {
	ended := make(chan struct{})
	c.mu.Lock()
	before := c.last[key]
	c.last[key] = ended
	c.mu.Unlock()

	var result Result
	var err error
	go func() {
		defer c.end(key, ended)
		if before != nil {
			<-before
		}
		if err = ctx.Err(); err != nil {
			return
		}
		var printed strings.Builder
		done, failure := do(c.app.WithStderr(&printed))
		if errors.Is(failure, journal.ErrNotFound) {
			failure = c.explainMissing(ctx, key, failure)
		}
		if err = failure; err == nil {
			result = done
		}
		result.Notices = strings.TrimSuffix(printed.String(), "\n")
	}()
	return func() (Result, error) {
		<-ended
		return result, err
	}
}

// end notes the end of a change.
func (c *Changes) end(key catalog.Key, ended chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.last[key] == ended {
		delete(c.last, key)
	}
	close(ended)
}

// Running returns the number of sessions that are being changed.
func (c *Changes) Running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.last)
}

// Wait returns nil when no change runs or waits, or the error of ctx when that is done.
func (c *Changes) Wait(ctx context.Context) error {
	for {
		ended := c.any()
		if ended == nil {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// any returns what is closed at the end of one of the changes; nil: none runs or waits.
func (c *Changes) any() chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ended := range c.last {
		return ended
	}
	return nil
}

// explainMissing says where a session is that is not in its place.
func (c *Changes) explainMissing(ctx context.Context, key catalog.Key, err error) error {
	if trashed, trashErr := trash.Of(c.app.Catalog.At(key.Dir).Journals()).Reader(key.ID); trashErr == nil {
		trashed.Close()
		return app.Exit(app.ExitNotFound, inTrashText(key.ID))
	}
	s, _, findErr := c.app.Catalog.Find(ctx, key.ID)
	switch {
	case findErr != nil:
		return findErr
	case s.Key() == key: // it was restored meanwhile
		return err
	}
	return app.Exit(app.ExitNotFound, movedText(s.Key()))
}
