package catalog

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// ImportEvents makes a journal from elsewhere a session of the team under its own
// id, or appends what an earlier state of it did not have. It returns how many
// messages were new and how many there are. When the team's session went on in
// another way, the error is ErrDiverged, and when somebody writes to it meanwhile a
// *journal.LockedError or journal.ErrChanged; nothing has changed then.
func (t *Dir) ImportEvents(id string, from projection.SessionImported, events iter.Seq2[journal.Event, error]) (taken, total int, err error) {
	k := &taking{team: t, id: id, from: from}
	begun, err := t.begun(id)
	switch {
	case err != nil:
	case begun:
		err = k.rest(events)
	default:
		// Crash here leaves a part of the session, whole in itself: the next
		// import of the same journal appends the rest.
		err = t.fill(id, func(w *writing) error { return k.all(w, events) })
	}
	if err != nil {
		return 0, k.total, err
	}
	return k.taken, k.total, nil
}

// begun reports whether a journal has the beginning of a session.
func (t *Dir) begun(id string) (bool, error) {
	for e, err := range t.events(id) {
		switch {
		case errors.Is(err, journal.ErrNotFound):
			return false, nil
		case err != nil:
			return false, err
		case e.Type == sessionCreated:
			return true, nil
		}
	}
	return false, nil
}

// taking is a journal from elsewhere on its way in.
type taking struct {
	team  *Dir
	id    string
	from  projection.SessionImported
	taken int // messages
	total int
}

// all takes every event but what is said of the other file alone.
func (k *taking) all(w *writing, events iter.Seq2[journal.Event, error]) error {
	for e, err := range events {
		if err == nil && e.Type != journal.TypeRecovered {
			err = k.take(e, w)
		}
		if err != nil {
			return err
		}
	}
	return k.end(w)
}

// rest takes what comes behind the conversation that the session has.
func (k *taking) rest(events iter.Seq2[journal.Event, error]) error {
	r, err := k.team.journals.Reader(k.id, journal.Position{})
	if err != nil {
		return err
	}
	defer r.Close()
	known, stop := iter.Pull2(projection.Conversation(r.Scan()))
	defer stop()
	var w *writing
	for e, err := range projection.Conversation(events) {
		if err != nil {
			return err
		}
		old, err, ok := known()
		if err != nil {
			return err
		}
		if ok {
			if err := k.same(e, old); err != nil {
				return err
			}
			continue
		}
		if w == nil {
			if w, err = k.team.openAt(k.id, r.Position()); err != nil {
				return err
			}
			defer w.log.Close()
		}
		if err := k.take(e, w); err != nil {
			return err
		}
	}
	if w == nil {
		return nil
	}
	if err := k.end(w); err != nil {
		return err
	}
	return w.finish()
}

// same passes over an event that the session has.
func (k *taking) same(e, old journal.Event) error {
	if !projection.SameEvent(e, old) {
		return fmt.Errorf("session %s, event %d: %w", k.id, old.Seq, ErrDiverged)
	}
	if projection.IsMessage(e) {
		k.total++
	}
	return nil
}

func (k *taking) take(e journal.Event, w *writing) error {
	if projection.IsMessage(e) {
		k.taken++
		k.total++
	}
	return w.add(journal.Record{Type: e.Type, Data: e.Data, Time: e.Time})
}

// end says where it all came from.
func (k *taking) end(w *writing) error {
	k.from.Taken = k.taken
	return w.add(projection.Record(time.Time{}, k.from))
}
