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
// an earlier save of it did not have. It returns how many messages were new.
func (t *Team) Take(s *interchange.Session) (taken int, err error) {
	known, err := t.messages(s.ID)
	if errors.Is(err, journal.ErrNotFound) {
		return len(s.Messages), t.takeNew(s)
	}
	if err != nil {
		return 0, err
	}
	for i := range min(len(known), len(s.Messages)) {
		if known[i].ID != s.Messages[i].ID || known[i].Content != s.Messages[i].Content {
			return 0, fmt.Errorf("session %s, message %d: %w", s.ID, i+1, ErrDiverged)
		}
	}
	if len(known) >= len(s.Messages) {
		return 0, nil
	}
	return len(s.Messages) - len(known), t.Append(s.ID, s.RecordsFrom(len(known))...)
}

func (t *Team) messages(id string) ([]projection.Message, error) {
	r, err := t.journals.Reader(id, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	snapshot, err := projection.ReadSnapshot(r.All())
	if err != nil {
		return nil, err
	}
	return snapshot.Context.Messages, nil
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
