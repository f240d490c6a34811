package sessioncopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ErrDiverged: a session with this id exists, and its events differ from those
// to import.
var ErrDiverged = errors.New("the session exists and has diverged")

// Import writes a session of another program to the catalog, or appends the
// messages that an earlier import of it did not have. It returns the number of
// messages written, 0 with an error. Errors: ErrDiverged; *journal.LockedError
// or journal.ErrChanged if the session is written to elsewhere.
func Import(ctx context.Context, dir *catalog.Dir, s *interchange.Session) (int, error) {
	exists, err := hasEvents(ctx, dir, s.ID)
	if err != nil {
		return 0, err
	}
	var records []journal.Record
	if exists {
		var end journal.Position
		if records, end, err = afterCrash(ctx, dir, s); err == nil && records == nil {
			records, end, err = afterMessages(ctx, dir, s)
		}
		if err == nil && len(records) > 0 {
			err = appendAt(ctx, dir, s.ID, end, records)
		}
	} else {
		// Crash here leaves some of the events, perhaps none. The next Import of
		// the same session appends the others.
		records = s.Records()
		err = create(ctx, dir, s.ID, func(w *writer) error {
			for _, r := range records {
				if err := w.add(r); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		return 0, err
	}
	messages := 0
	for _, r := range records {
		if projection.IsMessage(journal.Event{Type: r.Type, Data: r.Data}) {
			messages++
		}
	}
	return messages, nil
}

// afterCrash returns the records that are missing, and the position that they
// belong at, if the session is the beginning of an import that a crash
// interrupted. Otherwise the records are nil.
func afterCrash(
	ctx context.Context, dir *catalog.Dir, s *interchange.Session,
) ([]journal.Record, journal.Position, error) {
	r, err := dir.Journals().Reader(s.ID, journal.Position{})
	if err != nil {
		return nil, journal.Position{}, err
	}
	defer r.Close()
	records := s.Records()
	for e, err := range scan(ctx, r) {
		if err != nil {
			return nil, journal.Position{}, err
		}
		if len(records) == 0 || e.Type != records[0].Type || !bytes.Equal(e.Data, records[0].Data) {
			return nil, journal.Position{}, nil
		}
		records = records[1:]
	}
	return records, r.Position(), nil
}

// afterMessages returns the records of the messages that the session does not
// have, and the position that they belong at. It returns ErrDiverged if the messages that it has are others.
func afterMessages(
	ctx context.Context, dir *catalog.Dir, s *interchange.Session,
) ([]journal.Record, journal.Position, error) {
	snapshot, at, err := readSnapshot(ctx, dir, s.ID)
	if err != nil {
		return nil, at, err
	}
	known := snapshot.Context.Messages
	for i := range min(len(known), len(s.Messages)) {
		if known[i].ID != s.Messages[i].ID || known[i].Content != s.Messages[i].Content {
			return nil, at, fmt.Errorf("session %s, message %d: %w", s.ID, i+1, ErrDiverged)
		}
	}
	hasTask := s.Task == nil || snapshot.Context.TeamTask != nil
	if len(known) > len(s.Messages) || len(known) == len(s.Messages) && hasTask {
		return nil, at, nil
	}
	return s.RecordsFrom(len(known)), at, nil
}

// readSnapshot returns all messages of a session and the position of its end.
func readSnapshot(ctx context.Context, dir *catalog.Dir, id string) (*projection.Snapshot, journal.Position, error) {
	r, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		return nil, journal.Position{}, err
	}
	defer r.Close()
	snapshot, err := projection.ReadSnapshot(scan(ctx, r))
	return snapshot, r.Position(), err
}

// scan is r.Scan until ctx is done; then it yields the error of ctx.
func scan(ctx context.Context, r *journal.Reader) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e, err := range r.Scan() {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
