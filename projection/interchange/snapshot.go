package interchange

import (
	"bytes"
	"encoding/json"
	"fmt"

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
	id := sessionID("snapshot", s.TeamID, s.SessionID, created)
	return &Session{
		ID: id, TeamID: s.TeamID, CreatedAt: created, updatedAt: updated,
		Messages: s.Context.Messages, Task: s.Context.TeamTask,
		Created: projection.SessionCreated{
			Format: projection.Format, SessionID: id, App: app,
			Team: projection.Team{ID: s.TeamID, Name: s.TeamID, Members: speakers(s.Context.Messages)},
		},
		Imported: projection.SessionImported{
			Source: schemas.SessionSnapshot, Path: path, Taken: len(s.Context.Messages),
		},
	}, nil
}
