package interchange

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Snapshot reads a session snapshot v1.0, with speakers in the current or the
// older shape. Errors: those of schemas.Check.
func Snapshot(data []byte, path string, app projection.App) (*Session, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if err := schemas.Check(schemas.SessionSnapshot, data); err != nil {
		return nil, err
	}
	var s projection.Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	created, err := parseTime(s.CreatedAt)
	if err != nil {
		return nil, fmt.Errorf("createdAt: %w", err)
	}
	updated, err := parseTime(s.UpdatedAt)
	if err != nil {
		return nil, fmt.Errorf("updatedAt: %w", err)
	}
	const idFormat = "snapshot"
	id := sessionID(idFormat, s.TeamID, s.SessionID, created)
	return &Session{
		ID: id, TeamID: s.TeamID, CreatedAt: created, updatedAt: updated, Task: s.Context.TeamTask,
		Created: projection.SessionCreated{
			Format: projection.Format, SessionID: id, App: app,
			Team: projection.Team{ID: s.TeamID, Name: s.TeamID, Members: members(speakers(s.Context.Messages))},
		},
		Imported: projection.SessionImported{Source: schemas.SessionSnapshot, Path: path},
		idFormat: idFormat, sourceID: s.SessionID, idTime: created,
		conversation: func(yield func(journal.Record) bool) (ended, error) {
			at := created
			for _, m := range s.Context.Messages {
				if t, err := parseTime(m.Timestamp); err == nil {
					at = t
				}
				if !yield(projection.Record(at, projection.MessageAppended{Message: m})) {
					break
				}
			}
			return ended{}, nil
		},
	}, nil
}

// speakers returns the people and agents that wrote messages, in the order of
// their first message.
func speakers(messages []projection.Message) []projection.Speaker {
	var all []projection.Speaker
	seen := map[string]bool{}
	for _, m := range messages {
		if s := m.Speaker; !seen[s.ID] && s.Type != projection.TypeSystem {
			seen[s.ID] = true
			all = append(all, s)
		}
	}
	return all
}
