package sessions

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// all shows the events of every session: the last ones, and with -f those to
// come.
func (cmd *Tail) all(ctx context.Context, a *app.App) error {
	c := a.Catalog
	list, err := c.List(ctx, catalog.Query{})
	if err != nil {
		return err
	}
	known, err := cmd.lastOfAll(a, c, list.Sessions)
	if err != nil || !cmd.Follow {
		return err
	}
	w := &watchAll{cmd: cmd, app: a, catalog: c, sessions: known}
	return w.run(ctx)
}

// origin is an event with the session that it belongs to.
type origin struct {
	session string
	event   journal.Event
}

// lastOfAll prints the newest events of the newest sessions, in the order of
// their times, and returns where each session stands.
func (cmd *Tail) lastOfAll(a *app.App, c *catalog.Catalog, sessions []catalog.Session) (map[string]*watched, error) {
	known := map[string]*watched{}
	var all []origin
	for i, s := range sessions {
		w := &watched{at: s.End}
		if s.Archived {
			w.archive.Size = s.Bytes
		}
		known[filepath.Join(s.Dir(), s.ID)] = w
		if i >= cmd.N || s.Damaged != "" {
			continue
		}
		// By now there may be more than when it was listed.
		events, end, _, err := lastEvents(c.At(s.Dir()), s.ID, cmd.N)
		if err != nil {
			return nil, err
		}
		w.at = end
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

func (cmd *Tail) printOrigin(a *app.App, o origin) {
	if cmd.Output == "json" {
		fmt.Fprintf(a.Stdout, "{\"sessionId\":\"%s\",%s\n", o.session, o.event.Line()[1:])
		return
	}
	fmt.Fprintf(a.Stdout, "%s  ", o.session[len(o.session)-4:])
	cmd.print(a, o.event)
}

// watchAll finds the sessions that grow, and follows each of them.
type watchAll struct {
	cmd     *Tail
	app     *app.App
	catalog *catalog.Catalog

	sessions map[string]*watched // by the path without suffix; only look uses it
	busy     sync.WaitGroup
	mu       sync.Mutex // of what is watched, and of the output: one event at a time
}

// watched is where one session stands.
type watched struct {
	at       journal.Position // behind the last event that was shown or is older than the tail
	followed bool             // by a goroutine, which then has at
	tried    journal.Info     // the file when following it began
	archive  journal.Info     // the archive that holds nothing new; only its size is known at first
	replaced bool             // by another history, which is not shown
	said     string           // why it was not followed any further
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
		infos, err := t.Journals().List(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			w.app.ReportUnreadable(t.Journals().Path(), err)
		}
		for _, info := range infos {
			w.lookAt(ctx, t, info)
		}
	}
	return nil
}

// lookAt follows a session that has grown. One that is archived does not grow,
// but it may have before.
func (w *watchAll) lookAt(ctx context.Context, t *catalog.Dir, info journal.Info) {
	key := filepath.Join(t.Journals().Path(), info.ID)
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sessions[key]
	if s == nil {
		s = &watched{}
		w.sessions[key] = s
	}
	switch {
	case s.followed || s.replaced:
	case info.Archived:
		w.showArchive(t, s, info)
	case info.Size > s.at.Offset && info != s.tried:
		s.followed, s.tried = true, info
		from := s.at
		w.busy.Go(func() { w.follow(ctx, t, s, info.ID, from) })
	}
}

// showArchive shows what came between the last look and the archiving.
func (w *watchAll) showArchive(t *catalog.Dir, s *watched, info journal.Info) {
	unchanged := info == s.archive || s.archive.ID == "" && s.archive.Size == info.Size
	s.archive = info
	if unchanged {
		return
	}
	reader, err := t.Journals().Reader(info.ID, journal.Position{})
	if err != nil {
		w.say(s, info.ID, err)
		return
	}
	defer reader.Close()
	for e, err := range reader.All() {
		if err != nil {
			w.say(s, info.ID, err)
			return
		}
		switch {
		case e.Seq > s.at.Seq:
			w.show(s, info.ID, e)
		case e.Seq == s.at.Seq && e.Sum != s.at.Sum:
			w.say(s, info.ID, journal.ErrReplaced)
			return
		}
	}
}

func (w *watchAll) follow(ctx context.Context, t *catalog.Dir, s *watched, id string, from journal.Position) {
	for e, err := range t.Journals().Follow(ctx, id, from) {
		w.mu.Lock()
		if err != nil {
			w.say(s, id, err)
		} else {
			w.show(s, id, e)
		}
		w.mu.Unlock()
	}
	w.mu.Lock()
	s.followed = false
	w.mu.Unlock()
}

// show prints an event, and moves behind it. A line that another program laid
// out is longer or shorter: then Follow finds the place by itself.
func (w *watchAll) show(s *watched, id string, e journal.Event) {
	w.cmd.printOrigin(w.app, origin{id, e})
	s.at = journal.Position{Seq: e.Seq, Offset: s.at.Offset + int64(len(e.Line())) + 1, Sum: e.Sum}
}

// say tells, once, why a session is not followed any further; the others go on,
// and so does it when its file changes or comes back.
func (w *watchAll) say(s *watched, id string, err error) {
	switch {
	case errors.Is(err, journal.ErrReplaced):
		s.replaced = true
	case errors.Is(err, journal.ErrNotFound):
		s.tried = journal.Info{}
	}
	if m := app.FollowEndedText(id, err); m.Text != s.said {
		s.said = m.Text
		w.app.Show(m)
	}
}
