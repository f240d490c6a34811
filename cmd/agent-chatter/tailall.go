package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// all shows the events of every session: the last ones, and with -f those to
// come.
func (cmd *tailCommand) all(ctx context.Context, a *app) error {
	c := a.catalog()
	sessions, err := c.List()
	if err != nil {
		return err
	}
	known, err := cmd.lastOfAll(a, c, sessions)
	if err != nil || !cmd.Follow {
		return err
	}
	w := &watchAll{cmd: cmd, app: a, catalog: c, known: known}
	return w.run(ctx)
}

// origin is an event with the session that it belongs to.
type origin struct {
	session string
	event   journal.Event
}

// lastOfAll prints the newest events of the newest sessions, in the order of
// their times, and returns the places behind what is known of each session.
func (cmd *tailCommand) lastOfAll(a *app, c *catalog.Catalog, sessions []catalog.Session) (map[string]journal.Position, error) {
	known := map[string]journal.Position{}
	var all []origin
	for i, s := range sessions {
		known[s.Dir()+s.ID] = s.End
		if i >= cmd.N || s.Damaged != "" {
			continue
		}
		// By now there may be more than when it was listed.
		events, end, _, err := lastEvents(c.At(s.Dir()), s.ID, cmd.N)
		if err != nil {
			return nil, err
		}
		known[s.Dir()+s.ID] = end
		for _, e := range events {
			all = append(all, origin{s.ID, e})
		}
	}
	slices.SortStableFunc(all, func(x, y origin) int { return x.event.Time.Compare(y.event.Time) })
	for _, o := range all[max(0, len(all)-cmd.N):] {
		cmd.printOrigin(a, o)
	}
	return known, nil
}

func (cmd *tailCommand) printOrigin(a *app, o origin) {
	if cmd.Output == "json" {
		fmt.Fprintf(a.stdout, "{\"sessionId\":\"%s\",%s\n", o.session, o.event.Line()[1:])
		return
	}
	fmt.Fprintf(a.stdout, "%s  ", o.session[len(o.session)-4:])
	cmd.print(a, o.event)
}

// watchAll finds the sessions that grow, and follows each of them.
type watchAll struct {
	cmd     *tailCommand
	app     *app
	catalog *catalog.Catalog

	mu    sync.Mutex                  // one event at a time is printed
	known map[string]journal.Position // where the sessions that nobody follows stood
	busy  sync.WaitGroup

	following sync.Map // by the same keys
}

// run looks for news until ctx is done. Looking takes at most a tenth of its
// time, however many sessions there are.
func (w *watchAll) run(ctx context.Context) error {
	defer w.busy.Wait()
	for {
		began := time.Now()
		if err := w.look(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(100*time.Millisecond, 9*time.Since(began))):
		}
	}
}

func (w *watchAll) look(ctx context.Context) error {
	teams, err := w.catalog.Teams()
	if err != nil {
		return err
	}
	for _, t := range teams {
		infos, err := t.Journals().List()
		if err != nil {
			return err
		}
		for _, info := range infos {
			key := t.Journals().Path() + info.ID
			from := w.known[key]
			if info.Archived || info.Size <= from.Offset {
				continue
			}
			if _, followed := w.following.LoadOrStore(key, true); !followed {
				w.busy.Go(func() { w.follow(ctx, t, key, info.ID, from) })
			}
		}
	}
	return nil
}

func (w *watchAll) follow(ctx context.Context, t *catalog.Team, key, id string, from journal.Position) {
	for e, err := range t.Journals().Follow(ctx, id, from) {
		w.mu.Lock()
		if err != nil {
			w.app.notice(explain(err)) // of this session; the others go on
		} else {
			w.cmd.printOrigin(w.app, origin{id, e})
		}
		w.mu.Unlock()
	}
}
