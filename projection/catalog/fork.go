package catalog

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	// forkBytes is about how much is copied at a time.
	forkBytes = 1 << 20
	// heldBytes is about how much of a copy is in memory: a journal keeps what is
	// not on the disk yet.
	heldBytes = 8 << 20
)

// Fork copies the events of a session up to the one of that number, with the end
// of the turn when that is its reply, or all when it is 0, into a new session that remembers where it parted, and returns the id
// of that one. Somebody may be writing to the session, or it may be archived. What
// is damaged before that event is not forked.
func (t *Team) Fork(id string, upTo uint64) (string, error) {
	upTo, err := t.forkable(id, upTo)
	if err != nil {
		return "", err
	}
	fork := t.journals.NewID()
	log, err := t.journals.Create(fork)
	if err != nil {
		return "", err
	}
	defer log.Close()
	var state projection.State
	if err := t.copyEvents(id, upTo, &forking{id: fork, parent: projection.Parent{SessionID: id, Seq: upTo}, log: log, state: &state}); err != nil {
		// Crash here leaves a shorter session, whole in itself, that nobody has heard of.
		return "", errors.Join(err, log.Close(), t.Delete(fork))
	}
	t.Closed(fork, &state, log.Position())
	return fork, nil
}

// forkable is the number of the last event to copy. Everything up to it has been
// read then, so that a copy is not begun in vain.
func (t *Team) forkable(id string, upTo uint64) (uint64, error) {
	r, err := t.journals.Reader(id, journal.Position{})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	last := uint64(0)
	for e, err := range r.Scan() {
		switch behind := upTo > 0 && last >= upTo; {
		case behind && (err != nil || !endsReply(e)):
			return upTo, nil
		case behind && e.Type == turnEnded:
			return e.Seq, nil
		case err != nil:
			return 0, err
		}
		last = e.Seq
	}
	switch {
	case last == 0 || upTo > last:
		return 0, fmt.Errorf("session %s has no event %d: its last one is %d", id, upTo, last)
	case upTo > 0:
		return upTo, nil
	}
	return last, nil
}

// turnEnded is the type of the last event of a turn.
var turnEnded = projection.Record(time.Time{}, projection.TurnEnded{}).Type

// endsReply reports whether an event stands between a reply and the next thing that
// happens: the task that the reply sets, and the end of its turn. Without them the
// turn would seem to be interrupted.
func endsReply(e journal.Event) bool {
	switch p, _ := projection.Decode(e); p := p.(type) {
	case projection.TaskSet:
		return true
	case projection.TurnEnded:
		return p.FinishReason == projection.Done
	}
	return false
}

// forking is a session that is made of another one's events.
type forking struct {
	id     string
	parent projection.Parent
	log    *journal.Log
	state  *projection.State
	batch  []journal.Record
	bytes  int // of the batch
	held   int // bytes that were written since the last sync
}

func (t *Team) copyEvents(id string, upTo uint64, f *forking) error {
	r, err := t.journals.Reader(id, journal.Position{})
	if err != nil {
		return err
	}
	defer r.Close()
	for e, err := range r.Scan() {
		if err != nil {
			return err
		}
		if err := f.take(e); err != nil {
			return err
		}
		if e.Seq >= upTo {
			break
		}
	}
	if err := f.append(); err != nil {
		return err
	}
	return f.log.Sync()
}

// take copies an event. What is said of the file alone stays with the file.
func (f *forking) take(e journal.Event) error {
	r := journal.Record{Type: e.Type, Data: slices.Clone(e.Data), Time: e.Time}
	switch p, _ := projection.Decode(e); p := p.(type) {
	case projection.JournalRecovered:
		return nil
	case projection.SessionCreated:
		p.SessionID, p.Parent = f.id, &f.parent
		r = projection.Record(e.Time, p)
	}
	f.batch, f.bytes = append(f.batch, r), f.bytes+len(r.Data)
	if f.bytes < forkBytes {
		return nil
	}
	return f.append()
}

// append writes what was taken.
func (f *forking) append() error {
	if len(f.batch) == 0 {
		return nil
	}
	events, err := f.log.Append(f.batch...)
	for _, e := range events {
		f.state.Apply(e)
	}
	f.held += f.bytes
	clear(f.batch) // their data
	f.batch, f.bytes = f.batch[:0], 0
	if err == nil && f.held >= heldBytes {
		f.held = 0
		err = f.log.Sync()
	}
	return err
}
