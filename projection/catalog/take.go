package catalog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ErrDiverged: there is a session of that name already, and it went on in
// another way.
var ErrDiverged = errors.New("there is this session already, and it went on differently")

// ImportSession makes a session of another program one of the team's, or appends what
// an earlier save of it did not have. It returns how many messages were new, 0
// with an error. When somebody writes to the session meanwhile, the error is a
// *journal.LockedError or journal.ErrChanged.
func (t *Dir) ImportSession(s *interchange.Session) (int, error) {
	begun, err := t.begun(s.ID)
	if err != nil {
		return 0, err
	}
	if !begun {
		return taken(s.Records(), t.takeNew(s))
	}
	left, at, err := t.left(s)
	if err == nil && left == nil {
		left, at, err = t.behind(s)
	}
	if err != nil || len(left) == 0 {
		return 0, err
	}
	return taken(left, t.appendAt(s.ID, at, left...))
}

// taken is how many messages there are in records, unless an error says that it
// is not certain that they were taken.
func taken(records []journal.Record, err error) (n int, _ error) {
	if err != nil {
		return 0, err
	}
	for _, r := range records {
		if projection.IsMessage(journal.Event{Type: r.Type, Data: r.Data}) {
			n++
		}
	}
	return n, nil
}

func (t *Dir) takeNew(s *interchange.Session) error {
	// Crash here leaves some of the events, perhaps none: the next Take of the
	// same session appends the others.
	return t.fill(s.ID, func(w *writing) error {
		for _, r := range s.Records() {
			if err := w.add(r); err != nil {
				return err
			}
		}
		return nil
	})
}

// left are the records that a session lacks because a crash ended takeNew, and
// the position where they belong. They are nil when it has something else.
func (t *Dir) left(s *interchange.Session) ([]journal.Record, journal.Position, error) {
	r, err := t.journals.Reader(s.ID, journal.Position{})
	if err != nil {
		return nil, journal.Position{}, err
	}
	defer r.Close()
	left := s.Records()
	for e, err := range r.Scan() {
		if err != nil {
			return nil, journal.Position{}, err
		}
		if len(left) == 0 || e.Type != left[0].Type || !bytes.Equal(e.Data, left[0].Data) {
			return nil, journal.Position{}, nil
		}
		left = left[1:]
	}
	return left, r.Position(), nil
}

// behind are the records of the messages that a session does not have, and the
// position where they belong.
func (t *Dir) behind(s *interchange.Session) ([]journal.Record, journal.Position, error) {
	snapshot, at, err := t.snapshot(s.ID)
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

func (t *Dir) snapshot(id string) (*projection.Snapshot, journal.Position, error) {
	r, err := t.journals.Reader(id, journal.Position{})
	if err != nil {
		return nil, journal.Position{}, err
	}
	defer r.Close()
	snapshot, err := projection.ReadSnapshot(r.Scan())
	return snapshot, r.Position(), err
}
