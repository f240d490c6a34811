package storetest

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

const team = "storetest"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

var human = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}

func created(id, teamID string, at time.Time) journal.Record {
	return projection.Record(at, projection.SessionCreated{
		Format: projection.Format, SessionID: id, CWD: "/somewhere",
		Team: projection.Team{
			ID: teamID, Name: teamID,
			Members: []projection.Member{{ID: "ada", Name: "ada", Type: projection.TypeAI}},
		},
		App: projection.App{Name: "storetest", Version: "1"},
	})
}

func message(text string, at time.Time) journal.Record {
	return projection.Record(at, projection.NewMessage(ulid.Make().String(), at, human, text, nil))
}

// session is an open session and the fold of its events.
type session struct {
	store.Log
	state *projection.State
}

// create creates a session without events.
func create(t *testing.T, s store.Store, teamID string) *session {
	t.Helper()
	log, err := s.Create(teamID, "")
	if err != nil {
		t.Fatal("create:", err)
	}
	return &session{log, &projection.State{}}
}

// begin creates a session with messages, one per second.
func begin(t *testing.T, s store.Store, teamID string, at time.Time, texts ...string) *session {
	t.Helper()
	session := create(t, s, teamID)
	batch := []journal.Record{created(session.SessionID(), teamID, at)}
	for i, text := range texts {
		batch = append(batch, message(text, at.Add(time.Duration(i+1)*time.Second)))
	}
	session.append(t, batch...)
	return session
}

// add creates a session with messages and closes it.
func add(t *testing.T, s store.Store, teamID string, at time.Time, texts ...string) (id string) {
	t.Helper()
	session := begin(t, s, teamID, at, texts...)
	session.close(t)
	return session.SessionID()
}

func open(t *testing.T, s store.Store, teamID, id string) *session {
	t.Helper()
	log, state, err := s.Open(t.Context(), teamID, id)
	if err != nil {
		t.Fatal("open:", err)
	}
	t.Cleanup(func() { log.Close(state) })
	return &session{log, state}
}

func (s *session) append(t *testing.T, batch ...journal.Record) []journal.Event {
	t.Helper()
	events, err := s.Append(batch...)
	if err != nil {
		t.Fatal("append:", err)
	}
	for _, e := range events {
		s.state.Apply(e)
	}
	return events
}

func (s *session) close(t *testing.T) {
	t.Helper()
	if err := s.Close(s.state); err != nil {
		t.Fatal("close:", err)
	}
}

func openError(t *testing.T, s store.Store, teamID, id string) error {
	_, _, err := s.Open(t.Context(), teamID, id)
	return err
}

func load(t *testing.T, s store.Store, teamID, id string) *projection.Snapshot {
	t.Helper()
	snapshot, err := s.Load(t.Context(), teamID, id)
	if err != nil {
		t.Fatal("load:", err)
	}
	return snapshot
}

func loadError(t *testing.T, s store.Store, teamID, id string) error {
	_, err := s.Load(t.Context(), teamID, id)
	return err
}

func list(t *testing.T, s store.Store, teamID string) []store.Summary {
	t.Helper()
	sessions, err := s.List(t.Context(), teamID)
	if err != nil {
		t.Fatal("list:", err)
	}
	return sessions
}

func texts(s *projection.Snapshot) (contents []string) {
	for _, m := range s.Context.Messages {
		contents = append(contents, m.Content)
	}
	return contents
}

func checkTexts(t *testing.T, s store.Store, id string, want ...string) {
	t.Helper()
	if got := texts(load(t, s, team, id)); !reflect.DeepEqual(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
}

func checkNotFound(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("%s: %v, want %v", what, err, journal.ErrNotFound)
	}
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
