package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/oklog/ulid/v2"
)

func keptFromFirstAppend(t *testing.T, s store.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	if state := log.State(); state.Seq != 0 || state.SessionID != "" {
		t.Errorf("a new session has the state %+v", state)
	}
	if err := log.Save(log.State()); err != nil {
		t.Error("save of nothing:", err)
	}
	if sessions := list(t, s, team); len(sessions) > 0 {
		t.Errorf("listed before anything was said: %v", sessions)
	}
	_, err = s.Load(team, log.SessionID())
	checkNotFound(t, "load before the first append", err)
	_, err = s.Open(team, log.SessionID())
	checkNotFound(t, "open before the first append", err)

	state := write(t, log, created(log.SessionID(), team, noon), message("hello", noon))
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].SessionID != log.SessionID() {
		t.Errorf("listed after the first append: %v", sessions)
	}
	checkTexts(t, s, log.SessionID(), "hello")
	closeLog(t, log, state)

	unused, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	closeLog(t, unused, unused.State())
	if sessions := list(t, s, team); len(sessions) != 1 {
		t.Errorf("a session that nobody used is listed: %v", sessions)
	}
	if unused.SessionID() == log.SessionID() {
		t.Error("two sessions have the same id")
	}
}

func appendReturnsEvents(t *testing.T, s store.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close(log.State())
	at := time.Date(2026, 11, 21, 13, 0, 0, 123456789, time.FixedZone("CET", 3600))
	events, err := log.Append(created(log.SessionID(), team, at), message("a <b> & c", at))
	if err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	for i, e := range events {
		if e.Seq != uint64(i+1) || e.Sum == 0 || !e.Time.Equal(at.Truncate(time.Microsecond)) || e.Time.Location() != time.UTC {
			t.Errorf("event %d: seq %d, sum %s, time %s", i, e.Seq, e.Sum, e.Time)
		}
	}
	if events[0].Type != "session.created" || events[1].Type != "message.appended" {
		t.Errorf("types %s, %s", events[0].Type, events[1].Type)
	}
	more, err := log.Append(message("more", at))
	if err != nil || len(more) != 1 || more[0].Seq != 3 {
		t.Errorf("the next batch is %v, %v", more, err)
	}
	if none, err := log.Append(); err != nil || len(none) > 0 {
		t.Errorf("an empty batch is %v, %v", none, err)
	}
}

func refusedBatch(t *testing.T, s store.Store) {
	log := begin(t, s, team, noon, "before")
	defer log.Close(log.State())
	for what, bad := range map[string]journal.Record{
		"a type that is none": {Type: "nonsense", Data: json.RawMessage(`{}`)},
		"data that is none":   {Type: "message.appended", Data: json.RawMessage(`{`)},
		"data that is a list": {Type: "message.appended", Data: json.RawMessage(`[]`)},
		"a year too far":      {Type: "message.appended", Data: json.RawMessage(`{}`), Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		if _, err := log.Append(message("lost", noon), bad); err == nil || errors.Is(err, journal.ErrPoisoned) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if events, err := log.Append(message("after", noon)); err != nil || events[0].Seq != 3 {
		t.Errorf("the next batch: %v, %v", events, err)
	}
	checkTexts(t, s, log.SessionID(), "before", "after")
}

func loadWhole(t *testing.T, s store.Store) {
	log := begin(t, s, team, noon, "one", "two")
	task := "the task"
	state := write(t, log, projection.Record(noon.Add(time.Minute), projection.TaskSet{Task: &task}), message("three", noon.Add(time.Hour)))
	closeLog(t, log, state)

	got := load(t, s, team, log.SessionID())
	if got.SchemaVersion != projection.SnapshotVersion || got.TeamID != team || got.SessionID != log.SessionID() {
		t.Errorf("the snapshot is %s of %s %s", got.SchemaVersion, got.TeamID, got.SessionID)
	}
	if got.CreatedAt != projection.FormatTime(noon) || got.UpdatedAt != projection.FormatTime(noon.Add(time.Hour)) {
		t.Errorf("created %s, updated %s", got.CreatedAt, got.UpdatedAt)
	}
	if got.Context.Version != 1 || got.Context.TeamTask == nil || *got.Context.TeamTask != task {
		t.Errorf("the context is version %d with the task %v", got.Context.Version, got.Context.TeamTask)
	}
	if got.Metadata.MessageCount != 3 || got.Metadata.LastSpeakerID != human.ID {
		t.Errorf("the metadata is %+v", got.Metadata)
	}
	if first := got.Context.Messages[0]; first.ID == "" || first.Speaker != human {
		t.Errorf("the first message is %+v", first)
	}
	checkTexts(t, s, log.SessionID(), "one", "two", "three")
}

func sameState(t *testing.T, s store.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	state := write(t, log, created(log.SessionID(), team, noon), message("hello", noon),
		projection.Record(noon, projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: "m"}),
		projection.Record(noon, projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "grep"}),
		projection.Record(noon, projection.TurnText{TurnID: "t1", Text: "half a rep"}))
	closeLog(t, log, state)

	again := openLog(t, s, team, log.SessionID())
	if got := again.State(); !sameJSON(t, got, state) {
		t.Errorf("the state is\n%s\nwant\n%s", asJSON(t, got), asJSON(t, state))
	}
	if again.SessionID() != log.SessionID() {
		t.Errorf("the id is %s, want %s", again.SessionID(), log.SessionID())
	}
}

func goesOn(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "one")
	for i := 2; i <= 3; i++ {
		log := openLog(t, s, team, id)
		events, err := log.Append(message(fmt.Sprint(i), noon.Add(time.Hour)))
		if err != nil || len(events) != 1 || events[0].Seq != uint64(i+1) {
			t.Fatalf("append in run %d: %v, %v", i, events, err)
		}
		state := log.State()
		state.Apply(events[0])
		closeLog(t, log, state)
	}
	checkTexts(t, s, id, "one", "2", "3")
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].MessageCount != 3 {
		t.Errorf("the list is %+v", sessions)
	}
}

func openingWritesNothing(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "one")
	before := list(t, s, team)
	snapshot := load(t, s, team, id)
	log := openLog(t, s, team, id)
	if err := log.Save(log.State()); err != nil {
		t.Error("save:", err)
	}
	closeLog(t, log, log.State())
	if after := list(t, s, team); !reflect.DeepEqual(after, before) {
		t.Errorf("the list became %+v, it was %+v", after, before)
	}
	if again := load(t, s, team, id); !reflect.DeepEqual(again, snapshot) {
		t.Errorf("the session became %+v, it was %+v", again, snapshot)
	}
}

func notFound(t *testing.T, s store.Store) {
	check := func(what, teamID, id string) {
		t.Helper()
		_, err := s.Load(teamID, id)
		checkNotFound(t, "load of "+what, err)
		_, err = s.Open(teamID, id)
		checkNotFound(t, "open of "+what, err)
	}
	check("an unknown team", "nobody", ulid.Make().String())
	kept(t, s, team, noon, "one")
	check("an unknown id", team, ulid.Make().String())
	for _, id := range []string{"", ".", "..", "../../etc/passwd", `..\x`, "latest", "sessions", "a\x00b"} {
		check(fmt.Sprintf("the id %q", id), team, id)
	}
	_, err := s.Latest("nobody")
	checkNotFound(t, "latest of an unknown team", err)
}

func wholeIDs(t *testing.T, s store.Store) {
	id := kept(t, s, team, noon, "one")
	for _, other := range []string{id[:4], id[:25], id[1:], id + "X", "X" + id, strings.ToLower(id), id + " ", id + ".jsonl", "*"} {
		_, err := s.Load(team, other)
		checkNotFound(t, fmt.Sprintf("load of %q", other), err)
		_, err = s.Open(team, other)
		checkNotFound(t, fmt.Sprintf("open of %q", other), err)
		if err := s.Delete(team, other); err != nil {
			t.Errorf("delete of %q: %v", other, err)
		}
	}
	checkTexts(t, s, id, "one")
}

func newer(t *testing.T, s store.Store) {
	older := kept(t, s, team, noon, "old")
	for what, of := range map[string]struct {
		format int
		after  []journal.Record
	}{
		"a payload": {projection.Format, []journal.Record{{Type: "message.appended", Data: json.RawMessage(`{"v":99,"words":["how","odd"]}`)}}},
		"a format":  {projection.Format + 1, nil},
	} {
		log, err := s.Create(team)
		if err != nil {
			t.Fatal(err)
		}
		first := projection.Record(noon, projection.SessionCreated{
			Format: of.format, SessionID: log.SessionID(), Team: projection.Team{ID: team},
		})
		state := write(t, log, append([]journal.Record{first, message("known", noon.Add(time.Hour))}, of.after...)...)
		closeLog(t, log, state)
		_, err = s.Open(team, log.SessionID())
		var upgrade *store.UpgradeError
		if !errors.As(err, &upgrade) || upgrade.SessionID != log.SessionID() {
			t.Errorf("open of a session with %s of a newer version: %v, want an *UpgradeError", what, err)
		}
		snapshot, err := s.Load(team, log.SessionID())
		if err != nil || !reflect.DeepEqual(texts(snapshot), []string{"known"}) {
			t.Errorf("load of a session with %s of a newer version: %v, %v", what, snapshot, err)
		}
		if got, err := s.Latest(team); err != nil || got.SessionID != older {
			t.Errorf("latest beside a session with %s of a newer version: %+v, %v, want %s", what, got, err, older)
		}
	}
}

func lastFirst(t *testing.T, s store.Store) {
	log := begin(t, s, team, noon, "one", "two", "three")
	more, err := log.Append(message("four", noon))
	if err != nil {
		t.Fatal("append:", err)
	}
	var seqs []uint64
	for e, err := range log.Backward() {
		if err != nil {
			t.Fatal("backward:", err)
		}
		if len(seqs) == 0 && !reflect.DeepEqual(e, more[0]) {
			t.Errorf("the last event is %s, want %s", e.Line(), more[0].Line())
		}
		seqs = append(seqs, e.Seq)
	}
	if want := []uint64{5, 4, 3, 2, 1}; !reflect.DeepEqual(seqs, want) {
		t.Errorf("the events are %v, want %v", seqs, want)
	}
	for e := range log.Backward() {
		if e.Seq == 4 {
			break
		}
	}
	fresh, err := s.Create(team)
	if err != nil {
		t.Fatal("create:", err)
	}
	for e, err := range fresh.Backward() {
		t.Errorf("a session without events has %s, %v", e.Line(), err)
	}
}
