package storetest

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/oklog/ulid/v2"
)

const team = "storetest"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func created(id, teamID string, at time.Time) journal.Record {
	return projection.Record(at, projection.SessionCreated{
		Format: projection.Format, SessionID: id, CWD: "/somewhere",
		Team: projection.Team{ID: teamID, Name: teamID, Members: []projection.Member{{ID: "ada", Name: "ada", Type: projection.TypeAI}}},
		App:  projection.App{Name: "storetest", Version: "1"},
	})
}

var human = projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}

func message(text string, at time.Time) journal.Record {
	return projection.Record(at, projection.NewMessage(ulid.Make().String(), at, human, text, nil))
}

// begin creates a session with messages, a second apart, and leaves it open.
func begin(t *testing.T, s store.Store, teamID string, at time.Time, texts ...string) store.Log {
	t.Helper()
	log, err := s.Create(teamID)
	if err != nil {
		t.Fatal("create:", err)
	}
	batch := []journal.Record{created(log.SessionID(), teamID, at)}
	for i, text := range texts {
		batch = append(batch, message(text, at.Add(time.Duration(i+1)*time.Second)))
	}
	write(t, log, batch...)
	return log
}

// write appends, and folds what was appended into a state.
func write(t *testing.T, log store.Log, batch ...journal.Record) *projection.State {
	t.Helper()
	state := log.State()
	events, err := log.Append(batch...)
	if err != nil {
		t.Fatal("append:", err)
	}
	for _, e := range events {
		state.Apply(e)
	}
	return state
}

func closeLog(t *testing.T, log store.Log, state *projection.State) {
	t.Helper()
	if err := log.Close(state); err != nil {
		t.Fatal("close:", err)
	}
}

// kept creates a session and closes it.
func kept(t *testing.T, s store.Store, teamID string, at time.Time, texts ...string) (id string) {
	t.Helper()
	log := begin(t, s, teamID, at, texts...)
	closeLog(t, log, fold(t, s, teamID, log.SessionID(), texts))
	return log.SessionID()
}

// fold is the state after begin, made from what a second reader would get.
func fold(t *testing.T, s store.Store, teamID, id string, texts []string) *projection.State {
	t.Helper()
	var state projection.State
	snapshot := load(t, s, teamID, id)
	at, err := time.Parse(time.RFC3339, snapshot.CreatedAt)
	if err != nil || len(snapshot.Context.Messages) != len(texts) {
		t.Fatalf("created at %q with %d messages, want %d", snapshot.CreatedAt, len(snapshot.Context.Messages), len(texts))
	}
	place := journal.Position{}
	batch := []journal.Record{created(id, teamID, at)}
	for _, m := range snapshot.Context.Messages {
		said, err := time.Parse(time.RFC3339, m.Timestamp)
		if err != nil {
			t.Fatal(err)
		}
		batch = append(batch, projection.Record(said, projection.MessageAppended{Message: m}))
	}
	for _, r := range batch {
		e, next, err := place.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(e)
		place = next
	}
	return &state
}

func openLog(t *testing.T, s store.Store, teamID, id string) store.Log {
	t.Helper()
	log, err := s.Open(teamID, id)
	if err != nil {
		t.Fatal("open:", err)
	}
	t.Cleanup(func() { log.Close(log.State()) })
	return log
}

func load(t *testing.T, s store.Store, teamID, id string) *projection.Snapshot {
	t.Helper()
	snapshot, err := s.Load(teamID, id)
	if err != nil {
		t.Fatal("load:", err)
	}
	return snapshot
}

func list(t *testing.T, s store.Store, teamID string) []store.Summary {
	t.Helper()
	sessions, err := s.List(teamID)
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
		t.Errorf("the session has %q, want %q", got, want)
	}
}

func checkNotFound(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("%s: %v, want %v", what, err, journal.ErrNotFound)
	}
}
