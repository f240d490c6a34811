package interchange_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"github.com/agent-chatter/agent-chatter/schemas"
)

var app = projection.App{Name: "test", Version: "1"}

func sample(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "schemas", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func mustRead(t testing.TB, data []byte) *interchange.Session {
	t.Helper()
	s, err := interchange.Snapshot(data, "/old/session.json", app)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// snapshotOf returns the snapshot of a journal with these records.
func snapshotOf(t testing.TB, records []journal.Record) *projection.Snapshot {
	t.Helper()
	snapshot, err := projection.ReadSnapshot(func(yield func(journal.Event, error) bool) {
		var at journal.Position
		for _, r := range records {
			e, next, err := at.Next(r)
			if !yield(e, err) {
				return
			}
			at = next
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

func TestOlderSpeakersAreReadNotWritten(t *testing.T) {
	data := sample(t, "valid/session-snapshot-legacy.json")
	before := bytes.Clone(data)
	s := mustRead(t, data)
	if !bytes.Equal(data, before) {
		t.Error("what was read has changed")
	}
	name := func(s string) *string { return &s }
	ada := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada", Type: "human"}
	want := []projection.Message{
		{
			ID:        "m1",
			Timestamp: "2026-11-20T09:01:00.000Z",
			Speaker:   ada,
			Content:   "Hello Bo",
			Routing: &projection.Routing{
				RawNextMarkers: []string{"bo", "x"},
				ResolvedAddressees: []projection.Addressee{
					{Identifier: "bo", MemberID: name("bo"), MemberName: name("bo")},
					{Identifier: "x"},
				},
			},
		},
		{
			ID:        "m2",
			Timestamp: "2026-11-20T09:02:00.000Z",
			Speaker:   projection.Speaker{ID: "bo", Name: "bo", DisplayName: "Bo", Type: "ai"},
			Content:   "Hello.",
		},
		{ID: "m3", Timestamp: "2026-11-20T09:03:00.000Z", Speaker: ada, Content: "One file may hold both."},
	}
	if diff := cmp.Diff(want, messagesOf(t, s)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	for _, r := range recordsOf(t, s) {
		if strings.Contains(string(r.Data), "role") {
			t.Errorf("%s: %s", r.Type, r.Data)
		}
	}
}

func TestMissingDisplayNameIsName(t *testing.T) {
	data := bytes.ReplaceAll(sample(t, "valid/session-snapshot-legacy.json"), []byte("\"roleTitle\": \"Bo\",\n"), nil)
	if bo := messagesOf(t, mustRead(t, data))[1].Speaker; bo.DisplayName != "bo" {
		t.Errorf("%+v", bo)
	}
}

func TestSnapshotRoundTrip(t *testing.T) {
	for _, name := range []string{"empty", "legacy", "legacy-without-title", "new-format"} {
		t.Run(name, func(t *testing.T) {
			data := sample(t, "valid/session-snapshot-"+name+".json")
			s := mustRead(t, data)
			got := snapshotOf(t, recordsOf(t, s))
			var source projection.Snapshot
			if err := json.Unmarshal(data, &source); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(source.Context.Messages, got.Context.Messages); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(source.Context.TeamTask, got.Context.TeamTask); diff != "" {
				t.Errorf("task (-want +got):\n%s", diff)
			}
			if got.TeamID != source.TeamID || got.SessionID != s.ID ||
				got.Metadata.MessageCount != len(source.Context.Messages) {
				t.Errorf("%+v", got)
			}
			if want := projection.FormatTime(s.CreatedAt); got.CreatedAt != want {
				t.Errorf("created at %s, want %s", got.CreatedAt, want)
			}
			written, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if err := schemas.Check(schemas.SessionSnapshot, written); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestSnapshotEventsMatchSchema(t *testing.T) {
	for _, name := range []string{"empty", "legacy", "legacy-without-title", "new-format"} {
		var at journal.Position
		for _, r := range recordsOf(t, mustRead(t, sample(t, "valid/session-snapshot-"+name+".json"))) {
			if r.Time.IsZero() {
				r.Time = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // the journal's clock does this
			}
			e, next, err := at.Next(r)
			if err != nil {
				t.Fatal(err)
			}
			if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
				t.Errorf("%s: %s: %v", name, e.Line(), err)
			}
			at = next
		}
	}
}

func TestSpeakersAreMembers(t *testing.T) {
	s := mustRead(t, sample(t, "valid/session-snapshot-legacy.json"))
	want := []projection.Member{
		{ID: "ada", Name: "ada", DisplayName: "Ada", Type: "human"},
		{ID: "bo", Name: "bo", DisplayName: "Bo", Type: "ai"},
	}
	if diff := cmp.Diff(want, s.Created.Team.Members); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	legacy := string(sample(t, "valid/session-snapshot-legacy.json"))
	system := strings.Replace(legacy, `"type": "ai"`, `"type": "system"`, 1)
	if got := mustRead(t, []byte(system)).Created.Team.Members; len(got) != 1 {
		t.Errorf("the system is a member: %+v", got)
	}
}

// snapshot returns a snapshot with one message.
func snapshot(session, team, created string) []byte {
	return fmt.Appendf(
		nil,
		`{"schemaVersion": "1.0", "teamId": %q, "sessionId": %q, "createdAt": %q, "updatedAt": "2025-11-28T10:30:00.000Z",
  "context": {"messages": [{"id": "m1", "timestamp": "2025-11-27T10:31:00.000Z", "speaker": {"id": "a", "name": "a", "displayName": "A", "type": "human"}, "content": "hello"}],
    "teamTask": null, "timestamp": 1764239400000, "version": 1},
  "metadata": {"messageCount": 1}}`,
		team,
		session,
		created,
	)
}

func TestSameSourceSameID(t *testing.T) {
	const at = "2025-11-27T10:30:00.000Z"
	same := mustRead(t, snapshot("session-abc", "review", at)).ID
	for name, test := range map[string]struct {
		session, team string
		want          bool
	}{
		"again":           {"session-abc", "review", true},
		"another session": {"session-abd", "review", false},
		"another team":    {"session-abc", "design", false},
	} {
		if got := mustRead(t, snapshot(test.session, test.team, at)).ID; (got == same) != test.want {
			t.Errorf("%s: %s beside %s", name, got, same)
		}
	}
}

func TestIDIsULID(t *testing.T) {
	const at = "2025-11-27T10:30:00.000Z"
	const id = "01KAJ0000000000000000000AA"
	if got := mustRead(t, snapshot(id, "review", at)).ID; got != id {
		t.Errorf("%s became %s", id, got)
	}
	for _, id := range []string{"session-abc", strings.ToLower(id), "../../etc/passwd", "x",
		"9ZZZZZZZZZZZZZZZZZZZZZZZZZ"} {
		got := mustRead(t, snapshot(id, "review", at)).ID
		parsed, err := ulid.ParseStrict(got)
		if err != nil || !journal.ValidID(got) {
			t.Errorf("%q became %q: %v", id, got, err)
			continue
		}
		if when := ulid.Time(parsed.Time()).UTC(); when.Format(time.RFC3339) != "2025-11-27T10:30:00Z" {
			t.Errorf("%q became %q, of %s", id, got, when)
		}
	}
}

func TestTimeOutsideULIDRange(t *testing.T) {
	for _, at := range []string{"1970-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"} {
		s := mustRead(t, snapshot("session-abc", "review", at))
		if !journal.ValidID(s.ID) || projection.FormatTime(s.CreatedAt) != at[:19]+".000Z" {
			t.Errorf("%s: %s of %s", at, s.ID, projection.FormatTime(s.CreatedAt))
		}
	}
}

func TestSetTeamOfSnapshot(t *testing.T) {
	const at = "2025-11-27T10:00:00Z"
	for _, id := range []string{"session-abc", "session-xyz", "01KAHAM61B9SDF4W7TZ3YPK2WD"} {
		s, other := mustRead(t, snapshot(id, "review", at)), mustRead(t, snapshot(id, "kitchen", at))
		s.SetTeam("kitchen")
		if s.ID != other.ID || s.TeamID != "kitchen" {
			t.Errorf("%s: session %s of %s, want %s as in a snapshot of that team", id, s.ID, s.TeamID, other.ID)
		}
		if diff := cmp.Diff(other.Created, s.Created); diff != "" {
			t.Errorf("%s: session.created (-want +got):\n%s", id, diff)
		}
	}
}

func TestRecordsOfSnapshot(t *testing.T) {
	s := mustRead(t, sample(t, "valid/session-snapshot-legacy.json"))
	var types []string
	records := recordsOf(t, s)
	for _, r := range records {
		types = append(types, r.Type)
	}
	want := strings.Fields("session.created message.appended message.appended message.appended task.set session.imported")
	if diff := cmp.Diff(want, types); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	var imported projection.SessionImported
	err := json.Unmarshal(records[len(records)-1].Data, &imported)
	if err != nil || imported.Taken != 3 || imported.Path != "/old/session.json" {
		t.Errorf("%+v, %v", imported, err)
	}
}

func TestByteOrderMarkIsIgnored(t *testing.T) {
	data := sample(t, "valid/session-snapshot-legacy.json")
	if s := mustRead(t, append([]byte("\xEF\xBB\xBF"), data...)); len(messagesOf(t, s)) != 3 {
		t.Errorf("%d messages", len(messagesOf(t, s)))
	}
}

func TestInvalidSnapshots(t *testing.T) {
	for name, wants := range map[string][]string{
		"context-version": {"Invalid session-snapshot-v1.0:", "- /context/version: ",
			"Please check the schema: schemas/session-snapshot-v1.0.json"},
		"invalid-speaker": {"Invalid session-snapshot-v1.0:", "- /context/messages/0/speaker"},
		"missing-context": {"Invalid session-snapshot-v1.0:", "context"},
		"bad-date":        {"Invalid session-snapshot-v1.0:", "- /createdAt: "},
		"newer":           {"is not supported. Please upgrade agent-chatter."},
		"older":           {"is deprecated. Please migrate to version 1.0."},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := interchange.Snapshot(sample(t, "invalid/session-snapshot-"+name+".json"), "x", app)
			if err == nil {
				t.Fatal("it was read")
			}
			for _, want := range wants {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q is not in: %v", want, err)
				}
			}
		})
	}
	for _, data := range []string{"", "{", "null", "[]", "\x00"} {
		if s, err := interchange.Snapshot([]byte(data), "x", app); err == nil {
			t.Errorf("%q was read: %+v", data, s)
		}
	}
	var version *schemas.VersionError
	_, err := interchange.Snapshot(sample(t, "invalid/session-snapshot-newer.json"), "x", app)
	if !errors.As(err, &version) || !version.Newer {
		t.Errorf("%v is reported as a schema violation", err)
	}
}

func FuzzSnapshot(f *testing.F) {
	for _, pattern := range []string{"valid/session-snapshot-*.json", "invalid/session-snapshot-*.json"} {
		names, err := filepath.Glob(filepath.Join("..", "..", "schemas", "testdata", pattern))
		if err != nil || len(names) == 0 {
			f.Fatalf("samples %v: %v", names, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := interchange.Snapshot(data, "x", app)
		if err != nil {
			return
		}
		if !journal.ValidID(s.ID) {
			t.Errorf("the id is %q", s.ID)
		}
		// Whatever is read becomes a journal with the same messages.
		if got := snapshotOf(t, recordsOf(t, s)); len(got.Context.Messages) != len(messagesOf(t, s)) {
			t.Errorf("%d messages became %d", len(messagesOf(t, s)), len(got.Context.Messages))
		}
	})
}
