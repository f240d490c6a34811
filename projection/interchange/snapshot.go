package interchange

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
	"github.com/oklog/ulid/v2"
)

// Session is a session of another program.
type Session struct {
	ID        string // a ULID, the same for every save of the same session
	TeamID    string
	UpdatedAt time.Time
	Created   projection.SessionCreated
	CreatedAt time.Time
	Messages  []projection.Message
	Turns     map[int]Turn // by the number of the message that ended it; nil: nothing is known of turns
	Title     string       // that somebody chose; "": none
	Task      *string
	Imported  projection.SessionImported

	source string    // as the other program names it
	minted time.Time // that its id tells; zero: none that stays the same
}

// In makes it a session of that team, with an id of its own.
func (s *Session) In(team string) {
	s.TeamID, s.Created.Team.ID, s.Created.Team.Name = team, team, team
	s.ID = sessionID(s.Imported.Source, team, s.source, s.minted)
	s.Created.SessionID = s.ID
}

// Snapshot reads a session snapshot v1.0, with the speakers of today or those of
// older versions. Errors are those of schemas.Check.
func Snapshot(data []byte, path string, app projection.App) (*Session, error) {
	data = bytes.TrimPrefix(data, []byte("\uFEFF"))
	if err := schemas.Check(schemas.SessionSnapshot, data); err != nil {
		return nil, err
	}
	var s projection.Snapshot
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, err
	}
	created, err := moment(s.CreatedAt)
	if err != nil {
		return nil, fmt.Errorf("createdAt: %w", err)
	}
	updated, err := moment(s.UpdatedAt)
	if err != nil {
		return nil, fmt.Errorf("updatedAt: %w", err)
	}
	id := sessionID("snapshot", s.TeamID, s.SessionID, created)
	return &Session{
		ID: id, TeamID: s.TeamID, CreatedAt: created, UpdatedAt: updated, Messages: s.Context.Messages, Task: s.Context.TeamTask,
		Created: projection.SessionCreated{
			Format: projection.Format, SessionID: id, App: app,
			Team: projection.Team{ID: s.TeamID, Name: s.TeamID, Members: members(s.Context.Messages)},
		},
		Imported: projection.SessionImported{Source: schemas.SessionSnapshot, Path: path, Taken: len(s.Context.Messages)},
	}, nil
}

// moment reads a time that a journal can hold: its year has four digits in UTC,
// too.
func moment(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if year := t.UTC().Year(); err == nil && (year < 0 || year > 9999) {
		err = fmt.Errorf("%s is in the year %d in UTC", text, year)
	}
	return t, err
}

// sessionID keeps an id that is a ULID, and makes one of any other.
func sessionID(format, team, id string, created time.Time) string {
	if journal.ValidID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(format + "\x00" + team + "\x00" + id))
	var made ulid.ULID
	if ms := created.UnixMilli(); ms > 0 && uint64(ms) <= ulid.MaxTime() {
		_ = made.SetTime(uint64(ms)) // within the bounds
	}
	_ = made.SetEntropy(sum[:10]) // of the right length
	return made.String()
}

// members are those who spoke, in the order of their first message.
func members(messages []projection.Message) []projection.Member {
	members := []projection.Member{}
	seen := map[string]bool{}
	for _, m := range messages {
		s := m.Speaker
		if seen[s.ID] || s.Type == projection.TypeSystem {
			continue
		}
		seen[s.ID] = true
		members = append(members, projection.Member{ID: s.ID, Name: s.Name, DisplayName: s.DisplayName, Type: s.Type})
	}
	return members
}

// Records are the events of a whole session.
func (s *Session) Records() []journal.Record {
	records := []journal.Record{projection.Record(s.CreatedAt, s.Created)}
	return append(records, s.RecordsFrom(0)...)
}

// RecordsFrom are the events of the messages from the nth on, for a journal
// that has the earlier ones.
func (s *Session) RecordsFrom(n int) []journal.Record {
	var records []journal.Record
	at, trigger := s.CreatedAt, ""
	for i, m := range s.Messages {
		if t, err := moment(m.Timestamp); err == nil {
			at = t
		}
		turn, isTurn := s.Turns[i]
		switch {
		case i < n:
		case isTurn:
			records = append(records, turn.records(m, trigger, at)...)
		default:
			records = append(records, projection.Record(at, projection.MessageAppended{Message: m}))
		}
		if m.Speaker.Type == projection.TypeHuman {
			trigger = m.ID
		}
	}
	if s.Title != "" && n == 0 {
		records = append(records, projection.Record(s.UpdatedAt, projection.SessionRenamed{Title: s.Title}))
	}
	if s.Task != nil {
		records = append(records, projection.Record(s.UpdatedAt, projection.TaskSet{Task: s.Task}))
	}
	imported := s.Imported
	imported.Taken = len(s.Messages) - n
	return append(records, projection.Record(time.Time{}, imported))
}
