package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

func loadWhole(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "one", "two")
	task := "the task"
	session.append(t,
		projection.Record(noon.Add(time.Minute), projection.TaskSet{Task: &task}),
		message("three", noon.Add(time.Hour)))
	session.close(t)

	got := load(t, s, team, session.SessionID())
	if got.SchemaVersion != projection.SnapshotVersion || got.TeamID != team || got.SessionID != session.SessionID() {
		t.Errorf("version %s, team %s, session %s", got.SchemaVersion, got.TeamID, got.SessionID)
	}
	updated := noon.Add(time.Hour)
	if got.CreatedAt != projection.FormatTime(noon) || got.UpdatedAt != projection.FormatTime(updated) {
		t.Errorf("created %s, updated %s", got.CreatedAt, got.UpdatedAt)
	}
	if got.Context.Version != 1 || got.Context.TeamTask == nil || *got.Context.TeamTask != task {
		t.Errorf("context version %d, task %v", got.Context.Version, got.Context.TeamTask)
	}
	if got.Metadata.MessageCount != 3 || got.Metadata.LastSpeakerID != human.ID {
		t.Errorf("metadata %+v", got.Metadata)
	}
	if first := got.Context.Messages[0]; first.ID == "" || first.Speaker != human {
		t.Errorf("the first message is %+v", first)
	}
	checkTexts(t, s, session.SessionID(), "one", "two", "three")
}

func sameState(t *testing.T, s store.Store) {
	session := create(t, s, team)
	session.append(t, created(session.SessionID(), team, noon), message("hello", noon),
		projection.Record(noon, projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m"}),
		projection.Record(noon, projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "grep"}),
		projection.Record(noon, projection.TurnText{TurnID: "t1", Text: "a partial rep"}))
	session.close(t)

	again := open(t, s, team, session.SessionID())
	if got, want := toJSON(t, again.state), toJSON(t, session.state); got != want {
		t.Errorf("the state is\n%s\nwant\n%s", got, want)
	}
	if again.SessionID() != session.SessionID() {
		t.Errorf("ID %s, want %s", again.SessionID(), session.SessionID())
	}
}

func resumeKeepsID(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	for i := 2; i <= 3; i++ {
		session := open(t, s, team, id)
		events := session.append(t, message(fmt.Sprint(i), noon.Add(time.Hour)))
		if len(events) != 1 || events[0].Seq != uint64(i+1) {
			t.Fatalf("append in run %d: %v", i, events)
		}
		session.close(t)
	}
	checkTexts(t, s, id, "one", "2", "3")
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].MessageCount != 3 {
		t.Errorf("the list is %+v", sessions)
	}
}

func openWritesNothing(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	before := list(t, s, team)
	snapshot := load(t, s, team, id)
	session := open(t, s, team, id)
	if err := session.Save(session.state); err != nil {
		t.Error("save:", err)
	}
	session.close(t)
	if after := list(t, s, team); !reflect.DeepEqual(after, before) {
		t.Errorf("the list is %+v, was %+v", after, before)
	}
	if after := load(t, s, team, id); !reflect.DeepEqual(after, snapshot) {
		t.Errorf("the session is %+v, was %+v", after, snapshot)
	}
}

func notFound(t *testing.T, s store.Store) {
	check := func(what, teamID, id string) {
		t.Helper()
		checkNotFound(t, "load of "+what, loadError(t, s, teamID, id))
		checkNotFound(t, "open of "+what, openError(t, s, teamID, id))
	}
	check("an unknown team", "unknown", ulid.Make().String())
	add(t, s, team, noon, "one")
	check("an unknown ID", team, ulid.Make().String())
	for _, id := range []string{"", ".", "..", "../../etc/passwd", `..\x`, "latest", "sessions", "a\x00b"} {
		check(fmt.Sprintf("the ID %q", id), team, id)
	}
	_, err := s.Latest(t.Context(), "unknown")
	checkNotFound(t, "latest of an unknown team", err)
}

func exactID(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	for _, other := range []string{
		id[:4], id[:25], id[1:], id + "X", "X" + id, strings.ToLower(id), id + " ", id + ".jsonl", "*",
	} {
		checkNotFound(t, fmt.Sprintf("load of %q", other), loadError(t, s, team, other))
		checkNotFound(t, fmt.Sprintf("open of %q", other), openError(t, s, team, other))
		if err := s.Delete(t.Context(), team, other); err != nil {
			t.Errorf("delete of %q: %v", other, err)
		}
	}
	checkTexts(t, s, id, "one")
}

func newer(t *testing.T, s store.Store) {
	older := add(t, s, team, noon, "old")
	for what, of := range map[string]struct {
		format int
		after  []journal.Record
	}{
		"payload": {
			projection.Format,
			[]journal.Record{{Type: "message.appended", Data: json.RawMessage(`{"v":99,"words":["how","odd"]}`)}},
		},
		"format": {projection.Format + 1, nil},
	} {
		session := create(t, s, team)
		id := session.SessionID()
		session.append(t, append([]journal.Record{
			projection.Record(noon, projection.SessionCreated{
				Format: of.format, SessionID: id, Team: projection.Team{ID: team},
			}),
			message("known", noon.Add(time.Hour)),
		}, of.after...)...)
		session.close(t)
		err := openError(t, s, team, id)
		var upgrade *store.UpgradeError
		if !errors.As(err, &upgrade) || upgrade.SessionID != id {
			t.Errorf("open with a newer %s: %v, want an *UpgradeError", what, err)
		}
		snapshot, err := s.Load(t.Context(), team, id)
		if err != nil || !reflect.DeepEqual(texts(snapshot), []string{"known"}) {
			t.Errorf("load with a newer %s: %v, %v", what, snapshot, err)
		}
		if got, err := s.Latest(t.Context(), team); err != nil || got.SessionID != older {
			t.Errorf("latest with a newer %s: %+v, %v, want %s", what, got, err, older)
		}
	}
}

func checkLocked(t *testing.T, what string, err error) {
	t.Helper()
	var locked *journal.LockedError
	if !errors.As(err, &locked) || !errors.Is(err, journal.ErrLocked) {
		t.Errorf("%s: %v, want a *journal.LockedError", what, err)
		return
	}
	if locked.Holder.PID == 0 || locked.Holder.StartedAt.IsZero() {
		t.Errorf("%s: the holder is %+v, want this process", what, locked.Holder)
	}
}

func oneWriter(t *testing.T, s store.Store) {
	session := begin(t, s, team, noon, "one")
	id := session.SessionID()
	checkLocked(t, "open of a new session", openError(t, s, team, id))
	checkTexts(t, s, id, "one")
	session.close(t)

	second := open(t, s, team, id)
	checkLocked(t, "open of an open session", openError(t, s, team, id))
	second.close(t)
	open(t, s, team, id).close(t)
}

func closeTwice(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	first := open(t, s, team, id)
	first.close(t)
	second := open(t, s, team, id)
	first.close(t)
	checkLocked(t, "open while the second log is open", openError(t, s, team, id))
	second.close(t)
}

func closedLog(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	session := open(t, s, team, id)
	session.close(t)
	if _, err := session.Append(message("late", noon)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append: %v, want %v", err, journal.ErrClosed)
	}
	if err := session.Save(session.state); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("save: %v, want %v", err, journal.ErrClosed)
	}
	if _, err := session.Recover(t.Context()); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("recover: %v, want %v", err, journal.ErrClosed)
	}
	checkTexts(t, s, id, "one")
}

func canceled(t *testing.T, s store.Store) {
	id := add(t, s, team, noon, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, openErr := s.Open(ctx, team, id)
	_, loadErr := s.Load(ctx, team, id)
	_, listErr := s.List(ctx, team)
	_, latestErr := s.Latest(ctx, team)
	for what, err := range map[string]error{
		"open": openErr, "load": loadErr, "list": listErr, "latest": latestErr, "delete": s.Delete(ctx, team, id),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want %v", what, err, context.Canceled)
		}
	}
	open(t, s, team, id).close(t) // a canceled open holds no lock
	checkTexts(t, s, id, "one")
}
