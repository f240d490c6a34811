package sessioncopy

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// ImportEvents writes a journal from elsewhere to the catalog under its own id,
// or appends the part of the conversation that an earlier import of it did not
// have. The files of messages are copied from the given directories, also those that the existing session lacks. It
// returns the number of messages written, which counts none if there is
// an error, and the number of messages read. Errors: ErrDiverged;
// *journal.LockedError or catalog.ErrChanged if the session is written to
// elsewhere. After these the session is unchanged. After any other error, an
// existing session may have some of the events; a new one is removed.
func ImportEvents(
	ctx context.Context, dir *catalog.Dir, id string,
	from projection.SessionImported, events iter.Seq2[journal.Event, error], files ...attachment.Dir,
) (written, total int, err error) {
	i := &eventImport{ctx: ctx, dir: dir, id: id, from: from, files: files}
	exists, err := hasEvents(ctx, dir, id)
	switch {
	case err != nil:
	case exists:
		err = i.appendRest(events)
	default:
		// Crash here leaves a valid part of the session. The next import of the
		// same journal appends the rest.
		err = create(ctx, dir, id, func(w *writer) error {
			w.sources = files
			return i.copyAll(w, events)
		})
	}
	if err != nil {
		return 0, i.total, err
	}
	return i.written, i.total, nil
}

// hasEvents reports whether a session exists and has an event other than those
// about its file.
func hasEvents(ctx context.Context, dir *catalog.Dir, id string) (bool, error) {
	for e, err := range dir.Events(ctx, id) {
		switch {
		case errors.Is(err, journal.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case !isAboutFile(e):
			return true, nil
		}
	}
	return false, nil
}

// eventImport is the state of one ImportEvents.
type eventImport struct {
	ctx     context.Context
	dir     *catalog.Dir
	id      string
	from    projection.SessionImported
	files   []attachment.Dir
	written int // messages
	total   int
}

// copyAll copies the events, except those about the file of their journal, and
// adds the source.
func (i *eventImport) copyAll(w *writer, events iter.Seq2[journal.Event, error]) error {
	for e, err := range events {
		if err == nil && !isAboutFile(e) {
			err = i.copy(e, w)
		}
		if err != nil {
			return err
		}
	}
	return i.addSource(w)
}

// appendRest compares the events with the conversation of the existing session
// and appends those that follow it. The session is locked at the first of them.
func (i *eventImport) appendRest(events iter.Seq2[journal.Event, error]) error {
	r, err := i.dir.Journals().Reader(i.id, journal.Position{})
	if err != nil {
		return err
	}
	defer r.Close()
	existing, stop := iter.Pull2(projection.Conversation(scan(i.ctx, r)))
	defer stop()
	var w *writer
	for e, err := range projection.Conversation(events) {
		if err != nil {
			return err
		}
		old, err, ok := existing()
		if err != nil {
			return err
		}
		if ok {
			if !sameEvent(e, old) {
				return fmt.Errorf("session %s, event %d: %w", i.id, old.Seq, ErrDiverged)
			}
			if projection.IsMessage(e) {
				i.total++
			}
			if err := copyFiles(i.dir, i.id, i.files, e.Type, e.Data); err != nil {
				return err
			}
			continue
		}
		if w == nil {
			if w, err = openAt(i.ctx, i.dir, i.id, r.Position()); err != nil {
				return err
			}
			defer w.log.Close()
			w.sources = i.files
		}
		if err := i.copy(e, w); err != nil {
			return err
		}
	}
	if w == nil {
		return nil
	}
	if err := i.addSource(w); err != nil {
		return err
	}
	return w.finish()
}

func (i *eventImport) copy(e journal.Event, w *writer) error {
	if projection.IsMessage(e) {
		i.written++
		i.total++
	}
	return w.add(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
}

// addSource adds the event that records where the events come from.
func (i *eventImport) addSource(w *writer) error {
	i.from.Taken = i.written
	return w.add(projection.Record(time.Time{}, i.from))
}

// sameEvent reports whether two events are equal, perhaps except for secrets that
// only one import knew.
func sameEvent(a, b journal.Event) bool {
	x, y := string(a.Data), string(b.Data)
	return projection.SameEvent(a, b) || a.Type == b.Type && (isRedacted(x, y) || isRedacted(y, x))
}
