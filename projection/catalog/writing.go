package catalog

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	// batchBytes is about how much is written at a time.
	batchBytes = 1 << 20
	// heldBytes is about how much of what was written is in memory: a journal
	// keeps what is not on the disk yet.
	heldBytes = 8 << 20
)

// writing appends any number of events to a session that nobody else has open,
// with a few megabytes of them in memory.
type writing struct {
	team  *Dir
	log   *journal.Log
	state *projection.State
	batch []journal.Record
	bytes int // of the batch
	held  int // bytes that were written since the last sync
}

// open prepares a session for appending. It returns a *journal.LockedError when
// somebody has it open, and projection.ErrNewer when a newer version of the program
// wrote to it.
func (t *Dir) open(id string) (*writing, error) {
	log, err := t.journals.Open(id)
	if err != nil {
		return nil, err
	}
	state, _, err := t.Load(id)
	if err == nil && state.Newer {
		err = fmt.Errorf("session %s: %w; upgrade agent-chatter to change it", id, projection.ErrNewer)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return &writing{team: t, log: log, state: state}, nil
}

// openAt is open for who has read the session up to a position. It returns
// journal.ErrChanged when that is not its end any more.
func (t *Dir) openAt(id string, end journal.Position) (*writing, error) {
	w, err := t.open(id)
	if err != nil {
		return nil, err
	}
	if w.log.Position() != end {
		return nil, errors.Join(fmt.Errorf("session %s: %w", id, journal.ErrChanged), w.log.Close())
	}
	return w, nil
}

// fill makes a new session, all of it or nothing. There may be a journal without
// events: a crash in the moment of its creation leaves one.
func (t *Dir) fill(id string, with func(*writing) error) error {
	w, err := t.openAt(id, journal.Position{})
	if errors.Is(err, journal.ErrNotFound) {
		var log *journal.Log
		log, err = t.journals.Create(id)
		w = &writing{team: t, log: log, state: &projection.State{}}
	}
	if err != nil {
		return err
	}
	defer w.log.Close()
	if err = with(w); err == nil {
		err = w.finish()
	}
	if err != nil {
		// Crash here leaves a shorter session, whole in itself, that nobody has
		// heard of.
		return errors.Join(err, w.log.Discard())
	}
	return nil
}

// appendAt is Append for who has read the session up to a position.
func (t *Dir) appendAt(id string, end journal.Position, records ...journal.Record) error {
	w, err := t.openAt(id, end)
	if err != nil {
		return err
	}
	return w.append(records)
}

// append writes the records in one batch, durably, and closes the session.
func (w *writing) append(records []journal.Record) error {
	defer w.log.Close()
	w.batch = records
	return w.finish()
}

// add takes a record, whose data has to last until it is written.
func (w *writing) add(r journal.Record) error {
	w.batch, w.bytes = append(w.batch, r), w.bytes+len(r.Data)
	if w.bytes < batchBytes {
		return nil
	}
	return w.write()
}

// write appends what was added, in one batch.
func (w *writing) write() error {
	events, err := w.log.Append(w.batch...)
	for _, e := range events {
		w.state.Apply(e)
	}
	w.held += w.bytes
	w.batch, w.bytes = nil, 0
	if err == nil && w.held >= heldBytes {
		w.held = 0
		err = w.log.Sync()
	}
	return err
}

// finish makes all of it durable, and the index knows of it.
func (w *writing) finish() error {
	if err := w.write(); err != nil {
		return err
	}
	if err := w.log.Sync(); err != nil {
		return err
	}
	w.team.UpdateIndex(w.log.ID(), w.state, w.log.Position())
	return nil
}
