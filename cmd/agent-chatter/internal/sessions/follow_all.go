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

// printAll is Print for all sessions of all teams.
func (cmd *Tail) printAll(ctx context.Context, a *app.App) error {
	list, err := a.Catalog.List(ctx, catalog.Query{})
	if err != nil {
		return err
	}
	sessions, faults := cmd.printLast(ctx, a, list.Sessions)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case cmd.Follow: // which reports the faults
		f := &allFollower{cmd: cmd, app: a, sessions: sessions}
		return f.run(ctx)
	case len(faults) == 0:
		return nil
	}
	for _, err := range faults {
		a.Show(app.Explain(err))
	}
	return &app.ExitError{Code: app.CodeOf(faults[0])}
}

// sessionEvent is an event of one of many sessions.
type sessionEvent struct {
	sessionID string
	event     journal.Event
}

// printLast prints the last N events of all sessions, ordered by time. It returns how far
// each session was read, by its path without suffix, and the errors of those that could
// not be read to their end.
func (cmd *Tail) printLast(
	ctx context.Context, a *app.App, sessions []catalog.Session,
) (followed map[string]*followedSession, faults []error) {
	followed = map[string]*followedSession{}
	var last []sessionEvent
	for i, s := range sessions {
		f := &followedSession{at: s.End}
		if s.Archived {
			f.archive.Size = s.Bytes
		}
		followed[filepath.Join(s.Dir(), s.ID)] = f
		if i >= cmd.N { // The last N events are in the N sessions that were updated last.
			continue
		}
		// The session may have grown since it was listed.
		events, end, _, err := cmd.lastEvents(ctx, a.Catalog.At(s.Dir()), s.ID)
		switch {
		case err == nil:
			f.at = end
		case !errors.Is(err, journal.ErrNotFound): // it was not removed meanwhile
			faults = append(faults, err)
		}
		for _, e := range events {
			last = append(last, sessionEvent{s.ID, e})
		}
	}
	slices.SortStableFunc(last, func(x, y sessionEvent) int { return x.event.Time.Compare(y.event.Time) })
	for _, e := range last[max(0, len(last)-cmd.N):] {
		cmd.printSessionEvent(a, e)
	}
	return followed, faults
}

func (cmd *Tail) printSessionEvent(a *app.App, e sessionEvent) {
	if cmd.Output == "json" {
		fmt.Fprintf(a.Stdout, "{\"sessionId\":\"%s\",%s\n", e.sessionID, e.event.Line()[1:])
		return
	}
	cmd.printEvent(a, e.sessionID[len(e.sessionID)-4:]+"  ", e.event)
}

// An allFollower polls the directories of all teams, and follows each session that has
// grown in a goroutine.
type allFollower struct {
	cmd *Tail
	app *app.App

	sessions map[string]*followedSession // by path without suffix; used by poll alone
	running  sync.WaitGroup
	mu       sync.Mutex // guards the followedSessions and the output
}

// followedSession is how far a session was read.
type followedSession struct {
	at       journal.Position // after the last event that was printed or skipped
	active   bool             // a goroutine follows the session
	tried    journal.Info     // the file when the last goroutine was started
	archive  journal.Info     // the archive that was read; the first time, only its Size is known
	replaced bool             // by a journal with another history, which is not printed
	reported string           // the last reason why following ended
}

// run polls until ctx is done. Polling takes at most a tenth of the time, however many
// sessions there are.
func (f *allFollower) run(ctx context.Context) error {
	defer f.running.Wait()
	for {
		start := time.Now()
		if err := f.poll(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(max(100*time.Millisecond, 9*time.Since(start))):
		}
	}
}

func (f *allFollower) poll(ctx context.Context) error {
	teams, err := f.app.Catalog.Teams()
	if err != nil {
		return err
	}
	for _, dir := range teams {
		infos, err := dir.Journals().List(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			f.app.ReportUnreadable(dir.Journals().Path(), err)
		}
		for _, info := range infos {
			f.update(ctx, dir.Journals(), info)
		}
	}
	return nil
}

// update starts following a session if it has grown. An archived session does not grow,
// but it may have grown before it was archived.
func (f *allFollower) update(ctx context.Context, dir *journal.Dir, info journal.Info) {
	key := filepath.Join(dir.Path(), info.ID)
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.sessions[key]
	if s == nil {
		s = &followedSession{}
		f.sessions[key] = s
	}
	switch {
	case s.active || s.replaced:
	case info.Archived:
		f.printArchived(dir, s, info)
	case info.Size > s.at.Offset && info != s.tried:
		s.active, s.tried = true, info
		from := s.at
		f.running.Go(func() { f.follow(ctx, dir, s, info.ID, from) })
	}
}

// printArchived prints the events of an archived session that were not printed before.
func (f *allFollower) printArchived(dir *journal.Dir, s *followedSession, info journal.Info) {
	unchanged := info == s.archive || s.archive.ID == "" && s.archive.Size == info.Size
	s.archive = info
	if unchanged {
		return
	}
	reader, err := dir.Reader(info.ID, journal.Position{})
	if err != nil {
		f.report(s, info.ID, err)
		return
	}
	defer reader.Close()
	for e, err := range reader.All() {
		if err != nil {
			f.report(s, info.ID, err)
			return
		}
		switch {
		case e.Seq > s.at.Seq:
			f.print(s, info.ID, e)
		case e.Seq == s.at.Seq && e.Sum != s.at.Sum:
			f.report(s, info.ID, journal.ErrReplaced)
			return
		}
	}
}

func (f *allFollower) follow(
	ctx context.Context, dir *journal.Dir, s *followedSession, id string, from journal.Position,
) {
	for e, err := range dir.Follow(ctx, id, from) {
		f.mu.Lock()
		if err != nil {
			f.report(s, id, err)
		} else {
			f.print(s, id, e)
		}
		f.mu.Unlock()
	}
	f.mu.Lock()
	s.active = false
	f.mu.Unlock()
}

// print prints an event and advances the position. The offset is wrong if another program
// formatted the line differently; Follow then finds the event by its number.
func (f *allFollower) print(s *followedSession, id string, e journal.Event) {
	f.cmd.printSessionEvent(f.app, sessionEvent{id, e})
	s.at = journal.Position{Seq: e.Seq, Offset: s.at.Offset + int64(len(e.Line())) + 1, Sum: e.Sum}
}

// report prints, once, why following a session ended. The session is followed again when
// its file changes or reappears, unless it was replaced.
func (f *allFollower) report(s *followedSession, id string, err error) {
	switch {
	case errors.Is(err, journal.ErrReplaced):
		s.replaced = true
	case errors.Is(err, journal.ErrNotFound):
		s.tried = journal.Info{}
	}
	if m := app.FollowEndedText(id, err); m.Text != s.reported {
		s.reported = m.Text
		f.app.Show(m)
	}
}
