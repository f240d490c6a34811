package sessioncopy_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

var (
	ctx     = context.Background()
	created = time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
	mia     = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	ada     = projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: projection.TypeAI}
)

// newTeam returns an empty catalog and the directory of its only team.
func newTeam(t testing.TB, o journal.Options) (*catalog.Catalog, *catalog.Dir) {
	t.Helper()
	c := catalog.New(t.TempDir(), o)
	return c, c.Team("kitchen")
}

// id is the nth session id.
func id(n int) string { return fmt.Sprintf("01KAHV6T3R8Q4Y2M0N7C5B%04d", n) }

// header is the first event of a session.
func header(id string) journal.Record {
	return projection.Record(created, projection.SessionCreated{
		Format: 1, SessionID: id, CWD: "/home/mia", App: projection.App{Name: "test", Version: "1"},
		Team: projection.Team{ID: "kitchen", Name: "kitchen", Members: []projection.Member{
			{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman},
		}},
	})
}

// message is a message that was written some minutes after the session began.
func message(minutes int, by projection.Speaker, text string) journal.Record {
	m := projection.NewMessage(fmt.Sprint("m", minutes), created, by, text, nil)
	return projection.Record(created.Add(time.Duration(minutes)*time.Minute), m)
}

// conversation is a session in which mia and ada take turns.
func conversation(id string, texts ...string) []journal.Record {
	records := []journal.Record{header(id)}
	for i, text := range texts {
		records = append(records, message(i+1, []projection.Speaker{mia, ada}[i%2], text))
	}
	return records
}

// put writes the journal of a session and returns its end.
func put(t testing.TB, dir *catalog.Dir, id string, records ...journal.Record) journal.Position {
	t.Helper()
	var text []byte
	var at journal.Position
	for _, r := range records {
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		text, at = append(append(text, e.Line()...), '\n'), next
	}
	write(t, journalOf(dir, id), text)
	return at
}

// say appends messages, one a minute. Those that begin with > are ada's.
func say(t testing.TB, dir *catalog.Dir, id string, minutes int, texts ...string) {
	t.Helper()
	for i, text := range texts {
		by := mia
		if text[0] == '>' {
			by = ada
		}
		if err := dir.Append(ctx, id, message(minutes+i, by, text)); err != nil {
			t.Fatal(err)
		}
	}
}

func journalOf(dir *catalog.Dir, id string) string {
	return filepath.Join(dir.Journals().Path(), id+".jsonl")
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func list(t testing.TB, c *catalog.Catalog) []catalog.Session {
	t.Helper()
	result, err := c.List(ctx, catalog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return result.Sessions
}

// texts are the contents of a session's messages.
func texts(t testing.TB, dir *catalog.Dir, id string) (texts []string) {
	t.Helper()
	r, err := dir.Journals().Reader(id, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	snapshot, err := projection.ReadSnapshot(r.All())
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range snapshot.Context.Messages {
		texts = append(texts, m.Content)
	}
	return texts
}

// wantTexts compares the messages of session 1.
func wantTexts(t testing.TB, dir *catalog.Dir, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, texts(t, dir, id(1))); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}
