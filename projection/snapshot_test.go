package projection_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

func TestWriteSnapshotIndentsReadSnapshot(t *testing.T) {
	task := func(text string) journal.Record { return record(projection.TaskSet{Task: &text}) }
	for _, test := range []struct {
		name    string
		records []journal.Record
	}{
		{"no messages", nil},
		{"one message", []journal.Record{said(mia, "m1", "hello")}},
		{
			"many messages",
			[]journal.Record{said(mia, "m1", "hello"), said(ada, "m2", "hi"), said(mia, "m3", "a\nb <&> \u2028")},
		},
		{"a routing", []journal.Record{record(projection.NewMessage("m1", created, mia, "x", to("ada", "carol")))}},
		{"a task", []journal.Record{task("Repair it"), said(mia, "m1", "hello")}},
		{"a task like the list of messages", []journal.Record{task(`"messages": []`), said(mia, "m1", "hello")}},
		{"a task like the list, no messages", []journal.Record{task("\"messages\": []\n\"messages\": [")}},
		{"a message like the list", []journal.Record{said(mia, "m1", `{"messages": []}`)}},
		{"undecodable messages among others", []journal.Record{
			said(mia, "m1", "hello"), {Type: "message.appended", Data: json.RawMessage(`{"v":2}`)},
			{Type: "message.appended", Data: json.RawMessage(`{"message":[]}`)}, said(mia, "m2", "hello"),
		}},
		{
			"nothing but unreadable messages",
			[]journal.Record{{Type: "message.appended", Data: json.RawMessage(`{"v":2}`)}},
		},
	} {
		t.Run(test.name, func(t *testing.T) { checkSnapshot(t, session(t, test.records...)) })
	}
}

func TestWriteSnapshotEqualsReadSnapshot(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		var records []journal.Record
		for range rapid.IntRange(0, 20).Draw(t, "steps") {
			records = append(records, anyRecord(t, anyText(t)))
		}
		compareSnapshots(t, session(t, records...))
	})
}

func TestSnapshotWithAnIDLikeTheListOfMessages(t *testing.T) {
	id := "\"messages\": []"
	checkSnapshot(t, numbered(t, projection.Record(created, projection.SessionCreated{
		Format: 1, SessionID: id, Team: projection.Team{ID: id},
	}), said(mia, "m1", "hello")))
}

// checkSnapshot compares ReadSnapshot and WriteSnapshot and validates the result.
func checkSnapshot(t *testing.T, events []journal.Event) {
	t.Helper()
	written := compareSnapshots(t, events)
	if err := schemas.Check(schemas.SessionSnapshot, written); err != nil {
		t.Error(err)
	}
}

func compareSnapshots(t rapid.TB, events []journal.Event) []byte {
	t.Helper()
	snapshot, err := projection.ReadSnapshot(each(events))
	if err != nil {
		t.Fatal(err)
	}
	var want, got bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(snapshot); err != nil {
		t.Fatal(err)
	}
	if err := projection.WriteSnapshot(&got, fold(events...), each(events)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Fatalf("(-read +written):\n%s", diff)
	}
	if snapshot.Metadata.MessageCount != len(snapshot.Context.Messages) {
		t.Errorf("it counts %d messages and has %d", snapshot.Metadata.MessageCount, len(snapshot.Context.Messages))
	}
	return got.Bytes()
}

func TestSnapshotHasAllMessages(t *testing.T) {
	var records []journal.Record
	for i := range 450 {
		by := []projection.Speaker{mia, ada}[i%2]
		records = append(records, said(by, fmt.Sprint("m", i), fmt.Sprint("text ", i)))
	}
	snapshot, err := projection.ReadSnapshot(each(session(t, records...)))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range snapshot.Context.Messages {
		if m.ID != fmt.Sprint("m", i) || m.Content != fmt.Sprint("text ", i) {
			t.Fatalf("message %d is %+v", i, m)
		}
	}
	want := projection.Metadata{MessageCount: 450, LastSpeakerID: "ada", Summary: `450 messages - "text 0"`}
	if diff := cmp.Diff(want, snapshot.Metadata); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSnapshotIdentifiesTheSession(t *testing.T) {
	snapshot, err := projection.ReadSnapshot(each(session(
		t,
		record(projection.TaskSet{Task: new("Repair it")}),
		said(mia, "m1", "hello"),
		record(projection.TurnStarted{TurnID: "t1", MemberID: "ada"}),
		record(
			projection.TurnEnded{
				TurnID:       "t1",
				MemberID:     "ada",
				FinishReason: projection.Failed,
				Partial:      "not a message",
			},
		),
	)))
	if err != nil {
		t.Fatal(err)
	}
	messages := snapshot.Context.Messages
	snapshot.Context.Messages = nil
	want := &projection.Snapshot{
		SchemaVersion: "1.0", TeamID: "kitchen", SessionID: "s1",
		CreatedAt: "2026-11-21T02:30:00.000Z", UpdatedAt: "2026-11-21T02:31:00.000Z",
		Context:  projection.Context{TeamTask: new("Repair it"), Timestamp: 1795228260000, Version: 1},
		Metadata: projection.Metadata{MessageCount: 1, LastSpeakerID: "mia", Summary: `1 messages - "hello"`},
	}
	if diff := cmp.Diff(want, snapshot); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(messages) != 1 || messages[0].ID != "m1" {
		t.Errorf("the messages are %+v", messages)
	}
}

func TestSnapshotConvertsLegacyMessages(t *testing.T) {
	events := session(
		t,
		journal.Record{
			Type: "message.appended",
			Data: json.RawMessage(`{"message":{"id":"m1","timestamp":"2025-01-02T03:04:05Z",` +
				`"speaker":{"roleId":"a","roleName":"ada","type":"ai"},"content":"x",` +
				`"routing":{"resolvedAddressees":[{"identifier":"bo","roleId":"b","roleName":"bo"}]}}}`),
		},
	)
	checkSnapshot(t, events)
	if written := compareSnapshots(t, events); bytes.Contains(written, []byte("role")) {
		t.Errorf("%s", written)
	}
}

func TestSnapshotStopsAtAnError(t *testing.T) {
	broken, events := errors.New("damaged"), session(t, said(mia, "m1", "hello"))
	if _, err := projection.ReadSnapshot(brokenOff(events, broken)); err != broken {
		t.Errorf("reading: %v", err)
	}
	if err := projection.WriteSnapshot(&bytes.Buffer{}, fold(events...), brokenOff(events, broken)); err != broken {
		t.Errorf("writing: %v", err)
	}
}

func TestWriteSnapshotReturnsWriteErrors(t *testing.T) {
	events := session(t, said(mia, "m1", "hello"), said(ada, "m2", "hi"))
	for n := 0; ; n++ {
		w := &fullAfter{left: n}
		err := projection.WriteSnapshot(w, fold(events...), each(events))
		if err == nil {
			if n != 4 {
				t.Errorf("a snapshot of two messages took %d writes", n)
			}
			return
		}
		if err != errFull {
			t.Fatalf("write %d: %v", n+1, err)
		}
	}
}

var errFull = errors.New("the disk is full")

// fullAfter is a writer that fails after some writes.
type fullAfter struct{ left int }

func (w *fullAfter) Write(p []byte) (int, error) {
	if w.left == 0 {
		return 0, errFull
	}
	w.left--
	return len(p), nil
}

func TestWriteSnapshotHoldsOneMessageAtATime(t *testing.T) {
	events := session(t, said(mia, "m1", strings.Repeat("x", 1000)), said(mia, "m2", strings.Repeat("y", 1000)))
	var w largest
	if err := projection.WriteSnapshot(&w, fold(events...), each(events)); err != nil {
		t.Fatal(err)
	}
	if w > 1500 {
		t.Errorf("%d bytes were written at once", w)
	}
}

// largest is the size of the largest write.
type largest int

func (w *largest) Write(p []byte) (int, error) {
	*w = max(*w, largest(len(p)))
	return len(p), nil
}
