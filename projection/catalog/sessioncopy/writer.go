package sessioncopy

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/attachment"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

const (
	batchBytes    = 1 << 20 // payload bytes after which a batch is written
	unsyncedBytes = 8 << 20 // written bytes after which the journal is synced; it holds them until then
)

// writer appends any number of events to a session and holds a few megabytes
// of them in memory.
type writer struct {
	ctx      context.Context
	dir      *catalog.Dir
	log      *journal.Log
	state    *projection.State
	batch    []journal.Record
	bytes    int // of the batch
	unsynced int // bytes written since the last sync

	sources []attachment.Dir // where the files of messages are
}

// openAt opens a session whose events were read up to end. It returns
// catalog.ErrChanged if the session does not end there.
func openAt(ctx context.Context, dir *catalog.Dir, id string, end journal.Position) (*writer, error) {
	log, state, err := dir.OpenToAppend(ctx, id)
	if err != nil {
		return nil, err
	}
	if log.Position() != end {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, catalog.ErrChanged), log.Close())
	}
	return &writer{ctx: ctx, dir: dir, log: log, state: state}, nil
}

// create writes a new session with the given function. If that fails, the
// session is removed. The journal may exist without events: a crash during its
// creation leaves it empty.
func create(ctx context.Context, dir *catalog.Dir, id string, write func(*writer) error) error {
	w, err := openAt(ctx, dir, id, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		var log *journal.Log
		log, err = dir.Journals().Create(id)
		w = &writer{ctx: ctx, dir: dir, log: log, state: &projection.State{}}
	}
	if err != nil {
		return err
	}
	defer w.log.Close()
	if err = write(w); err == nil {
		err = w.finish()
	}
	if err != nil {
		// Crash here leaves a valid, shorter session whose id no caller knows.
		return errors.Join(err, w.discard())
	}
	return nil
}

// markCopy notes, before a session is written, which sessions it copies, if they were on a hub.
func markCopy(dir *catalog.Dir, id string, of ...string) error {
	// Crash here leaves a mark without a session.
	return hub.MarkCopy(vfs.OS, dir.Journals(), id, false, of...)
}

// add adds a record to the batch and writes a full batch. The record's Data
// must not change until it is written.
func (w *writer) add(r journal.Record) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	if err := copyFiles(w.dir, w.log.ID(), w.sources, r.Type, r.Data); err != nil {
		return err
	}
	w.batch, w.bytes = append(w.batch, r), w.bytes+len(r.Data)
	if w.bytes < batchBytes {
		return nil
	}
	return w.flush()
}

// from makes the files of the messages of a session those that are copied with messages.
func (w *writer) from(dir *catalog.Dir, id string) error {
	d, err := dir.Attachments(id)
	w.sources = append(w.sources, d)
	return err
}

// copyFiles copies the files of a message of a session, before the message is written. Those that are missing or
// damaged where they come from are so in the copy.
func copyFiles(dir *catalog.Dir, id string, sources []attachment.Dir, eventType string, data []byte) error {
	if len(sources) == 0 {
		return nil
	}
	to, err := dir.Attachments(id)
	if err != nil {
		return err
	}
	for _, f := range projection.FilesOf(eventType, data) {
		for _, from := range sources {
			err := to.CopyFrom(from, f.SHA256, f.Bytes)
			if err == nil {
				break
			}
			var damaged *attachment.DamagedError
			if !errors.Is(err, fs.ErrNotExist) && !errors.As(err, &damaged) {
				return err
			}
		}
	}
	return nil
}

// discard removes the session that was begun.
func (w *writer) discard() error {
	files, err := w.dir.Attachments(w.log.ID())
	if err != nil {
		return err
	}
	return errors.Join(files.Remove(), w.log.Discard())
}

// flush appends the batch, if there is one.
func (w *writer) flush() error {
	if len(w.batch) == 0 {
		return nil
	}
	events, err := w.log.Append(w.batch...)
	for _, e := range events {
		w.state.Apply(e)
	}
	w.unsynced += w.bytes
	w.batch, w.bytes = nil, 0
	if err == nil && w.unsynced >= unsyncedBytes {
		w.unsynced = 0
		err = w.log.Sync()
	}
	return err
}

// finish makes all events durable, seals the journal and updates the index.
func (w *writer) finish() error {
	if err := w.flush(); err != nil {
		return err
	}
	// Crash here leaves events without a sync mark: damage of them would look like a
	// torn tail.
	sealed, err := w.log.Seal()
	for _, e := range sealed {
		w.state.Apply(e)
	}
	if err != nil {
		return err
	}
	w.dir.UpdateIndex(w.log.ID(), w.state, w.log.Position())
	return nil
}
