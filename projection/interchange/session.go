package interchange

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Session is a session of another program.
type Session struct {
	ID        string // a ULID, the same for every save of the session
	TeamID    string
	updatedAt time.Time
	Created   projection.SessionCreated
	CreatedAt time.Time
	Messages  []projection.Message
	Turns     map[int]Turn // by the index of the message that ended it; nil: no turns are known
	Title     string       // chosen by a person; "": none
	Task      *string
	Imported  projection.SessionImported

	sourceID string    // the other program's id of the session
	idTime   time.Time // the time in ID; zero: unknown, or not the same in every save
}

// SetTeam makes s a session of the team. That changes its id.
func (s *Session) SetTeam(team string) {
	s.TeamID, s.Created.Team.ID, s.Created.Team.Name = team, team, team
	s.ID = sessionID(s.Imported.Source, team, s.sourceID, s.idTime)
	s.Created.SessionID = s.ID
}

// sessionID returns id if it is a ULID, else a ULID that is derived from it.
func sessionID(format, team, id string, created time.Time) string {
	if journal.ValidID(id) {
		return id
	}
	sum := sha256.Sum256([]byte(format + "\x00" + team + "\x00" + id))
	var derived ulid.ULID
	if ms := created.UnixMilli(); ms > 0 && uint64(ms) <= ulid.MaxTime() {
		_ = derived.SetTime(uint64(ms)) // fails only beyond MaxTime
	}
	_ = derived.SetEntropy(sum[:10]) // fails only for another length
	return derived.String()
}

// parseTime parses a time that a journal can hold: its year in UTC has four
// digits.
func parseTime(text string) (time.Time, error) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if year := t.UTC().Year(); err == nil && (year < 0 || year > 9999) {
		err = fmt.Errorf("%s is in the year %d in UTC", text, year)
	}
	return t, err
}

// speakers returns the people and agents that wrote messages, in the order of
// their first message.
func speakers(messages []projection.Message) []projection.Member {
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

// Records returns the events of the session.
func (s *Session) Records() []journal.Record {
	records := []journal.Record{projection.Record(s.CreatedAt, s.Created)}
	return append(records, s.RecordsFrom(0)...)
}

// RecordsFrom returns the events of the messages from index n on, for a journal
// that has those before it.
func (s *Session) RecordsFrom(n int) []journal.Record {
	var records []journal.Record
	at, trigger := s.CreatedAt, ""
	for i, m := range s.Messages {
		if t, err := parseTime(m.Timestamp); err == nil {
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
		records = append(records, projection.Record(s.updatedAt, projection.SessionRenamed{Title: s.Title}))
	}
	if s.Task != nil {
		records = append(records, projection.Record(s.updatedAt, projection.TaskSet{Task: s.Task}))
	}
	imported := s.Imported
	imported.Taken = len(s.Messages) - n
	return append(records, projection.Record(time.Time{}, imported))
}
