package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/store/storetest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestFiles(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return store.NewFiles(catalog.New(filepath.Join(t.TempDir(), "sessions"), journal.Options{}))
	})
}

func TestFilesInOneDirectory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store {
		return store.NewDir(catalog.New(t.TempDir(), journal.Options{}).At(filepath.Join(t.TempDir(), "shared")))
	})
}

func TestMemory(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return &store.Memory{} })
}

const team = "ensemble"

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func created(id, teamID string) journal.Record {
	return projection.Record(noon, projection.SessionCreated{
		Format: projection.Format, SessionID: id, Team: projection.Team{ID: teamID},
	})
}

func message(text string, at time.Time) journal.Record {
	speaker := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	return projection.Record(at, projection.NewMessage(ulid.Make().String(), at, speaker, text, nil))
}

// session is an open session and the fold of its events.
type session struct {
	store.Log
	t     *testing.T
	state *projection.State
}

// create begins a session. It is closed at the end of the test.
func create(t *testing.T, s store.Store, teamID string) *session {
	t.Helper()
	log, err := s.Create(teamID, "")
	if err != nil {
		t.Fatal(err)
	}
	session := &session{log, t, &projection.State{}}
	t.Cleanup(func() { session.Close(session.state) })
	session.append(created(log.SessionID(), teamID))
	return session
}

func open(t *testing.T, s store.Store, id string) *session {
	t.Helper()
	log, state, err := s.Open(t.Context(), team, id)
	if err != nil {
		t.Fatal(err)
	}
	return &session{log, t, state}
}

func (s *session) append(batch ...journal.Record) {
	s.t.Helper()
	events, err := s.Append(batch...)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, e := range events {
		s.state.Apply(e)
	}
}

// save appends messages of a size in bytes and saves.
func (s *session) save(messages, size int) {
	s.t.Helper()
	for range messages {
		s.append(message(strings.Repeat("x", size), noon))
	}
	if err := s.Save(s.state); err != nil {
		s.t.Fatal(err)
	}
}

// add creates a session with two messages and closes it.
func add(t *testing.T, s store.Store) (id string) {
	t.Helper()
	session := create(t, s, team)
	session.append(message("hello", noon))
	session.save(0, 0)
	session.append(message("hi", noon)) // its synced mark covers the preceding lines
	if err := session.Close(session.state); err != nil {
		t.Fatal(err)
	}
	return session.SessionID()
}

// disk is a Files on a file system that can fail.
type disk struct {
	*store.Files
	*journaltest.FS
	catalog *catalog.Catalog
	root    string
}

func newDisk(t *testing.T) *disk { return openDisk(filepath.Join(t.TempDir(), "home", "sessions")) }

func openDisk(root string) *disk {
	d := &disk{FS: journaltest.New(vfs.OS), root: root}
	d.catalog = catalog.New(root, journal.Options{FS: d.FS})
	d.Files = store.NewFiles(d.catalog)
	return d
}

func (d *disk) dir() string { return filepath.Join(d.root, team) }

func (d *disk) path(id string) string { return filepath.Join(d.dir(), id+".jsonl") }

func (d *disk) checkpointPath(id string) string { return filepath.Join(d.dir(), id+".checkpoint.json") }

// operations returns the operations on the disk that match.
func (d *disk) operations(match func(kind, rest string) bool) []string {
	var found []string
	for _, line := range strings.Split(d.FS.String(), "\n") {
		_, op, _ := strings.Cut(line, " ")
		if kind, rest, _ := strings.Cut(op, " "); match(kind, rest) {
			found = append(found, op)
		}
	}
	return found
}

// damage changes a byte of the first line of a journal and removes the caches.
func (d *disk) damage(t *testing.T, id string) {
	t.Helper()
	data, err := os.ReadFile(d.path(id))
	if err != nil {
		t.Fatal(err)
	}
	data[50] ^= 1
	if err := os.WriteFile(d.path(id), data, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(d.checkpointPath(id))
	os.Remove(filepath.Join(d.dir(), "sessions.json"))
}
