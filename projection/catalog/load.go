package catalog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// MissingHeaderError reports a journal that is readable but has no session.created
// where a session starts, or no event. Only journal.recovered and journal.sealed may
// precede session.created. The session cannot be resumed, and journal.Dir.Repair does
// not change it.
type MissingHeaderError struct {
	ID, Reason string
	Empty      bool // there is no event: no checksum matches
}

func (e *MissingHeaderError) Error() string { return fmt.Sprintf("session %s: %s", e.ID, e.Reason) }

var errNotSession = errors.New("it does not begin with session.created")

// Loaded describes how Load came to a state.
type Loaded struct {
	At   journal.Position // after the last event of the state
	From journal.Position // of the checkpoint that was used; zero: none
	Torn journal.Torn     // the torn tail, which the state does not include
}

// Load folds a session from its checkpoint, or from its beginning if that is
// missing or invalid. A torn tail ends the fold without an error. Errors:
// journal.ErrNotFound; *journal.CorruptError; *MissingHeaderError; ctx.Err().
func (d *Dir) Load(ctx context.Context, id string) (*projection.State, Loaded, error) {
	return d.load(ctx, id, d.reader(id))
}

// load is Load with a function that opens a Reader of the journal.
func (d *Dir) load(
	ctx context.Context, id string, reader func(journal.Position) (*journal.Reader, error),
) (*projection.State, Loaded, error) {
	state, from := d.readCheckpoint(id)
	state, loaded, err := foldFrom(ctx, reader, state, from)
	if err == errNotSession {
		err = &MissingHeaderError{ID: id, Reason: err.Error()}
	}
	if err != nil {
		return nil, Loaded{}, err
	}
	return state, loaded, nil
}

func (d *Dir) reader(id string) func(journal.Position) (*journal.Reader, error) {
	return func(from journal.Position) (*journal.Reader, error) { return d.journals.Reader(id, from) }
}

// foldFrom folds the part of a journal after a position into state, which must be
// the fold of the events up to from. If the journal does not have that position,
// it folds the whole journal into a new state. It accepts session.created after
// other events, and a journal without events: unlike Events, it may not read the
// first event, which a checkpoint covers.
func foldFrom(
	ctx context.Context, open func(journal.Position) (*journal.Reader, error),
	state *projection.State, from journal.Position,
) (*projection.State, Loaded, error) {
	reader, err := open(from)
	if err == nil && !reader.Holds(from) {
		reader.Close()
		state, from = &projection.State{}, journal.Position{}
		reader, err = open(from)
	}
	if err != nil {
		return state, Loaded{}, err
	}
	defer reader.Close()
	for e, err := range reader.Scan() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return state, Loaded{At: reader.Position(), From: from, Torn: reader.Torn()}, err
		}
		state.Apply(e)
	}
	if reader.Position().Seq > 0 && state.SessionID == "" {
		err = errNotSession
	}
	return state, Loaded{At: reader.Position(), From: from, Torn: reader.Torn()}, err
}

var (
	sessionCreated = projection.TypeOf(projection.SessionCreated{})
	sessionRenamed = projection.TypeOf(projection.SessionRenamed{})
	sessionResumed = projection.TypeOf(projection.SessionResumed{})
)

// Events yields the events of a session from its first one, as
// journal.Reader.Scan does. If an event other than journal.recovered and
// journal.sealed precedes session.created, a *MissingHeaderError ends the sequence
// there. An empty journal yields nothing. When ctx is done, ctx.Err() ends the
// sequence.
func (d *Dir) Events(ctx context.Context, id string) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		r, err := d.journals.Reader(id, journal.Position{})
		if err != nil {
			yield(journal.Event{}, err)
			return
		}
		defer r.Close()
		created := false
		for e, err := range r.Scan() {
			created = created || e.Type == sessionCreated
			switch {
			case err != nil:
			case ctx.Err() != nil:
				e, err = journal.Event{}, ctx.Err()
			case !created && e.Type != journal.TypeRecovered && e.Type != journal.TypeSealed:
				e, err = journal.Event{}, &MissingHeaderError{ID: id, Reason: errNotSession.Error()}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// RecordedTeam reads the team of a session from the journal and ignores the
// checkpoint. Another user who can write to the folder could replace the checkpoint by
// one with another team file. It searches the whole journal and decodes little of it.
// Errors: those of Load.
func (d *Dir) RecordedTeam(ctx context.Context, id string) (projection.Team, error) {
	r, err := d.journals.Reader(id, journal.Position{})
	if err != nil {
		return projection.Team{}, err
	}
	defer r.Close()
	var state projection.State
	indexSessionEvent := func(lines []byte) int { return bytes.Index(lines, []byte("session.")) }
	for e, err := range r.Grep(indexSessionEvent) {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return projection.Team{}, err
		}
		if e.Type == sessionCreated || e.Type == sessionResumed {
			state.Apply(e)
		}
	}
	if state.SessionID == "" {
		return projection.Team{}, &MissingHeaderError{ID: id, Reason: errNotSession.Error()}
	}
	return state.Team, nil
}

// Open opens the journal of a session and folds it. Until the log is closed, the
// caller is its only writer; nothing is written before its first Append. The
// caller must not append if the state is Newer. Errors: those of Load;
// *journal.LockedError if the session is open elsewhere; ErrChanged if
// the journal was replaced while it was read.
func (d *Dir) Open(ctx context.Context, id string) (*journal.Log, *projection.State, Loaded, error) {
	log, err := d.journals.Open(ctx, id)
	if err != nil {
		return nil, nil, Loaded{}, err
	}
	state, loaded, err := d.load(ctx, id, log.Reader)
	if err == nil && loaded.At != log.Position() {
		err = fmt.Errorf("%s: %w", log.Path(), ErrChanged)
	}
	if err != nil {
		return nil, nil, Loaded{}, errors.Join(err, log.Close())
	}
	return log, state, loaded, nil
}

// OpenToAppend is Open for a caller that appends. It returns
// projection.ErrNewer if a newer version of the program wrote to the session.
func (d *Dir) OpenToAppend(ctx context.Context, id string) (*journal.Log, *projection.State, error) {
	log, state, _, err := d.Open(ctx, id)
	if err == nil && state.Newer {
		err = fmt.Errorf("session %s: %w; upgrade agent-chatter to change it", id, projection.ErrNewer)
		return nil, nil, errors.Join(err, log.Close())
	}
	return log, state, err
}
