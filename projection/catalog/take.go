package catalog

import (
	"errors"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// ErrDiverged: there is a session of that name already, and it went on in
// another way.
var ErrDiverged = errors.New("there is this session already, and it went on differently")

// Take makes a session of another program one of the team's, or appends what
// an earlier save of it did not have. It returns how many messages were new, 0
// with an error.
func (t *Team) Take(s *interchange.Session) (int, error) {
	snapshot, err := t.snapshot(s.ID)
	switch {
	case errors.Is(err, journal.ErrNotFound):
		return taken(len(s.Messages), t.takeNew(s))
	case err != nil:
		return 0, err
	case snapshot.SessionID == "": // all that a crash in takeNew left
		return taken(len(s.Messages), t.Append(s.ID, s.Records()...))
	}
	known := snapshot.Context.Messages
	for i := range min(len(known), len(s.Messages)) {
		if known[i].ID != s.Messages[i].ID || known[i].Content != s.Messages[i].Content {
			return 0, fmt.Errorf("session %s, message %d: %w", s.ID, i+1, ErrDiverged)
		}
	}
	hasTask := s.Task == nil || snapshot.Context.TeamTask != nil
	if len(known) > len(s.Messages) || len(known) == len(s.Messages) && hasTask {
		return 0, nil
	}
	return taken(len(s.Messages)-len(known), t.Append(s.ID, s.RecordsFrom(len(known))...))
}

// taken is n, unless an error says that it is not certain.
func taken(n int, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return n, nil
}

func (t *Team) snapshot(id string) (*projection.Snapshot, error) {
	r, err := t.journals.Reader(id, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return projection.ReadSnapshot(r.Scan())
}

func (t *Team) takeNew(s *interchange.Session) error {
	log, err := t.journals.Create(s.ID)
	if err != nil {
		return err
	}
	defer log.Close()
	events, err := log.Append(s.Records()...)
	if err != nil {
		return err
	}
	// Crash here leaves some of the events, perhaps none: the next Take of the
	// same session appends the others.
	if err := log.Sync(); err != nil {
		return err
	}
	var state projection.State
	for _, e := range events {
		state.Apply(e)
	}
	t.Closed(s.ID, &state, log.Position())
	return nil
}
