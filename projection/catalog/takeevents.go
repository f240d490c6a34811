package catalog

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// TakeEvents makes a journal from elsewhere a session of the team under its own
// id, or appends what an earlier state of it did not have. It returns how many
// messages were new and how many there are. When the team's session went on in
// another way, the error is ErrDiverged, and nothing has changed.
func (t *Team) TakeEvents(id string, from projection.SessionImported, events iter.Seq2[journal.Event, error]) (taken, total int, err error) {
	k := &taking{team: t, id: id, from: from}
	_, err = t.journals.Stat(id)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		err = k.new(events)
	case err == nil:
		err = k.more(events)
	}
	if err != nil {
		return 0, k.total, err
	}
	return k.taken, k.total, nil
}

// taking is a journal from elsewhere on its way in.
type taking struct {
	team  *Team
	id    string
	from  projection.SessionImported
	batch []journal.Record
	bytes int
	taken int // messages
	total int
}

// new makes a session. What is said of the other file alone stays with it.
func (k *taking) new(events iter.Seq2[journal.Event, error]) error {
	log, err := k.team.journals.Create(k.id)
	if err != nil {
		return err
	}
	defer log.Close()
	var state projection.State
	write := func(records []journal.Record) error {
		written, err := log.Append(records...)
		for _, e := range written {
			state.Apply(e)
		}
		return err
	}
	for e, err := range events {
		if err == nil && e.Type != journal.TypeRecovered {
			err = k.take(e, write)
		}
		if err != nil {
			return errors.Join(err, log.Close(), k.giveUp())
		}
	}
	// Crash here leaves a part of the session, whole in itself: the next import of
	// the same journal appends the rest.
	if err := k.end(write); err != nil {
		return errors.Join(err, log.Close(), k.giveUp())
	}
	if err := log.Sync(); err != nil {
		return err
	}
	k.team.Closed(k.id, &state, log.Position())
	return nil
}

// giveUp removes a session of which the rest did not come.
func (k *taking) giveUp() error {
	if err := k.team.Delete(k.id); !errors.Is(err, journal.ErrNotFound) {
		return err
	}
	return nil
}

// more appends to a session what comes behind the conversation that it has.
func (k *taking) more(events iter.Seq2[journal.Event, error]) error {
	known, stop := iter.Pull2(projection.Conversation(k.team.events(k.id)))
	defer stop()
	write := func(records []journal.Record) error { return k.team.Append(k.id, records...) }
	for e, err := range projection.Conversation(events) {
		if err != nil {
			return err
		}
		old, err, ok := known()
		switch {
		case err != nil:
			return err
		case !ok:
			if err := k.take(e, write); err != nil {
				return err
			}
		case !projection.SameEvent(e, old):
			return fmt.Errorf("session %s, event %d: %w", k.id, old.Seq, ErrDiverged)
		case projection.IsMessage(e):
			k.total++
		}
	}
	if k.taken == 0 && len(k.batch) == 0 {
		return nil
	}
	return k.end(write)
}

// take keeps an event until there are enough to be written.
func (k *taking) take(e journal.Event, write func([]journal.Record) error) error {
	if projection.IsMessage(e) {
		k.taken++
		k.total++
	}
	k.batch, k.bytes = append(k.batch, journal.Record{Type: e.Type, Data: e.Data, Time: e.Time}), k.bytes+len(e.Data)
	if k.bytes < forkBytes {
		return nil
	}
	records := k.batch
	k.batch, k.bytes = nil, 0
	return write(records)
}

// end writes what is left, and where it all came from.
func (k *taking) end(write func([]journal.Record) error) error {
	k.from.Taken = k.taken
	return write(append(k.batch, projection.Record(time.Time{}, k.from)))
}
