package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/oklog/ulid/v2"
)

// Run tests a store. Every call of open returns an empty one.
func Run(t *testing.T, open func(t *testing.T) coordinator.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s coordinator.Store)
	}{
		{"a session is kept from its first append on", keptFromFirstAppend},
		{"append returns the events as they are kept", appendReturnsEvents},
		{"a batch that is refused leaves the session as it was", refusedBatch},
		{"load returns the whole session", loadWhole},
		{"opening again gives the same state", sameState},
		{"a session goes on under its id", goesOn},
		{"opening writes nothing", openingWritesNothing},
		{"what is not there is not found", notFound},
		{"an id never matches by a part", wholeIDs},
		{"a team without sessions has an empty list", emptyList},
		{"list has one row for each session, the newest first", listOrder},
		{"list describes a session", listRow},
		{"latest is the newest that is not empty", latest},
		{"delete removes one session", deleteOne},
		{"deleting what is not there is no error", deleteNothing},
		{"a session has one writer", oneWriter},
		{"a session that is written to is not deleted", deleteLocked},
		{"closing twice frees nothing of anybody else's", closeTwice},
		{"a closed log refuses", closedLog},
		{"a sound log has nothing to recover", nothingToRecover},
		{"a session of another team is a mismatch", otherTeam},
		{"two teams see only their own", twoTeams},
		{"a newer session can be read and not written", newer},
		{"nothing is shared with what was passed in", copiesIn},
		{"nothing is shared with what was returned", copiesOut},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

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
func begin(t *testing.T, s coordinator.Store, teamID string, at time.Time, texts ...string) coordinator.SessionLog {
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
func write(t *testing.T, log coordinator.SessionLog, batch ...journal.Record) *projection.State {
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

func closeLog(t *testing.T, log coordinator.SessionLog, state *projection.State) {
	t.Helper()
	if err := log.Close(state); err != nil {
		t.Fatal("close:", err)
	}
}

// kept creates a session and closes it.
func kept(t *testing.T, s coordinator.Store, teamID string, at time.Time, texts ...string) (id string) {
	t.Helper()
	log := begin(t, s, teamID, at, texts...)
	closeLog(t, log, fold(t, s, teamID, log.SessionID(), texts))
	return log.SessionID()
}

// fold is the state after begin, made from what a second reader would get.
func fold(t *testing.T, s coordinator.Store, teamID, id string, texts []string) *projection.State {
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

func openLog(t *testing.T, s coordinator.Store, teamID, id string) coordinator.SessionLog {
	t.Helper()
	log, err := s.Open(teamID, id)
	if err != nil {
		t.Fatal("open:", err)
	}
	t.Cleanup(func() { log.Close(log.State()) })
	return log
}

func load(t *testing.T, s coordinator.Store, teamID, id string) *projection.Snapshot {
	t.Helper()
	snapshot, err := s.Load(teamID, id)
	if err != nil {
		t.Fatal("load:", err)
	}
	return snapshot
}

func list(t *testing.T, s coordinator.Store, teamID string) []coordinator.Summary {
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

func checkTexts(t *testing.T, s coordinator.Store, id string, want ...string) {
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

func keptFromFirstAppend(t *testing.T, s coordinator.Store) {
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

func appendReturnsEvents(t *testing.T, s coordinator.Store) {
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

func refusedBatch(t *testing.T, s coordinator.Store) {
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

func loadWhole(t *testing.T, s coordinator.Store) {
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

func sameState(t *testing.T, s coordinator.Store) {
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

func goesOn(t *testing.T, s coordinator.Store) {
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

func openingWritesNothing(t *testing.T, s coordinator.Store) {
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

func notFound(t *testing.T, s coordinator.Store) {
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

func wholeIDs(t *testing.T, s coordinator.Store) {
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

func emptyList(t *testing.T, s coordinator.Store) {
	if sessions := list(t, s, "nobody"); len(sessions) != 0 {
		t.Errorf("an unknown team has %v", sessions)
	}
}

func listOrder(t *testing.T, s coordinator.Store) {
	// The second is updated last, the third was never spoken in again.
	first := kept(t, s, team, noon, "a")
	second := kept(t, s, team, noon.Add(time.Minute), "b")
	third := kept(t, s, team, noon.Add(time.Hour), "c")
	log := openLog(t, s, team, second)
	closeLog(t, log, write(t, log, message("newest", noon.Add(2*time.Hour))))

	sessions := list(t, s, team)
	want := []string{second, third, first}
	var got []string
	for i, session := range sessions {
		got = append(got, session.SessionID)
		if i > 0 && session.UpdatedAt.After(sessions[i-1].UpdatedAt) {
			t.Errorf("row %d is newer than the one before it", i)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the list is %v, want %v", got, want)
	}
}

func listRow(t *testing.T, s coordinator.Store) {
	id := kept(t, s, team, noon, "What is a monad?", "More.")
	sessions := list(t, s, team)
	if len(sessions) != 1 {
		t.Fatalf("%d rows", len(sessions))
	}
	got := sessions[0]
	if got.SessionID != id || got.TeamID != team || got.MessageCount != 2 || got.Title != "What is a monad?" {
		t.Errorf("the row is %+v", got)
	}
	if !got.CreatedAt.Equal(noon) || !got.UpdatedAt.Equal(noon.Add(2*time.Second)) || got.LastSpeakerID != human.ID || got.Summary() == "" {
		t.Errorf("the row is %+v", got)
	}
}

func latest(t *testing.T, s coordinator.Store) {
	_, err := s.Latest(team)
	checkNotFound(t, "latest of nothing", err)
	kept(t, s, team, noon.Add(3*time.Hour))
	_, err = s.Latest(team)
	checkNotFound(t, "latest of a session without messages", err)

	older := kept(t, s, team, noon, "a")
	newer := kept(t, s, team, noon.Add(time.Hour), "b")
	check := func(want string) {
		t.Helper()
		got, err := s.Latest(team)
		if err != nil || got.SessionID != want || got.TeamID != team || got.MessageCount == 0 {
			t.Errorf("the latest is %+v, %v, want %s", got, err, want)
		}
	}
	check(newer)
	log := openLog(t, s, team, older)
	closeLog(t, log, write(t, log, message("newest", noon.Add(2*time.Hour))))
	check(older)
	if err := s.Delete(team, older); err != nil {
		t.Fatal(err)
	}
	check(newer)
}

func deleteOne(t *testing.T, s coordinator.Store) {
	id, other := kept(t, s, team, noon, "a"), kept(t, s, team, noon, "b")
	if err := s.Delete(team, id); err != nil {
		t.Fatal(err)
	}
	_, err := s.Load(team, id)
	checkNotFound(t, "load of a deleted session", err)
	_, err = s.Open(team, id)
	checkNotFound(t, "open of a deleted session", err)
	if sessions := list(t, s, team); len(sessions) != 1 || sessions[0].SessionID != other {
		t.Errorf("the list is %v, want %s alone", sessions, other)
	}
	checkTexts(t, s, other, "b")
}

func deleteNothing(t *testing.T, s coordinator.Store) {
	id := kept(t, s, team, noon, "a")
	for _, what := range []string{id, id, ulid.Make().String(), "", "..", "../../etc/passwd"} {
		if err := s.Delete(team, what); err != nil {
			t.Errorf("delete of %q: %v", what, err)
		}
	}
	if err := s.Delete("nobody", ulid.Make().String()); err != nil {
		t.Error("delete in an unknown team:", err)
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

func oneWriter(t *testing.T, s coordinator.Store) {
	log := begin(t, s, team, noon, "one")
	id := log.SessionID()
	_, err := s.Open(team, id)
	checkLocked(t, "open of a session that was just begun", err)
	checkTexts(t, s, id, "one")
	closeLog(t, log, fold(t, s, team, id, []string{"one"}))

	again := openLog(t, s, team, id)
	_, err = s.Open(team, id)
	checkLocked(t, "open of a session that was opened", err)
	closeLog(t, again, again.State())
	last := openLog(t, s, team, id)
	closeLog(t, last, last.State())
}

func deleteLocked(t *testing.T, s coordinator.Store) {
	log := begin(t, s, team, noon, "one")
	checkLocked(t, "delete", s.Delete(team, log.SessionID()))
	checkTexts(t, s, log.SessionID(), "one")
	closeLog(t, log, fold(t, s, team, log.SessionID(), []string{"one"}))
	if err := s.Delete(team, log.SessionID()); err != nil {
		t.Error("delete after the writer is gone:", err)
	}
}

func closeTwice(t *testing.T, s coordinator.Store) {
	id := kept(t, s, team, noon, "one")
	first := openLog(t, s, team, id)
	closeLog(t, first, first.State())
	second := openLog(t, s, team, id)
	closeLog(t, first, first.State())
	_, err := s.Open(team, id)
	checkLocked(t, "open while the second one writes", err)
	closeLog(t, second, second.State())
}

func closedLog(t *testing.T, s coordinator.Store) {
	id := kept(t, s, team, noon, "one")
	log := openLog(t, s, team, id)
	closeLog(t, log, log.State())
	if _, err := log.Append(message("late", noon)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("append: %v, want %v", err, journal.ErrClosed)
	}
	if err := log.Save(log.State()); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("save: %v, want %v", err, journal.ErrClosed)
	}
	if _, err := log.Recover(); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("recover: %v, want %v", err, journal.ErrClosed)
	}
	checkTexts(t, s, id, "one")
}

func nothingToRecover(t *testing.T, s coordinator.Store) {
	log := begin(t, s, team, noon, "one")
	defer log.Close(log.State())
	if events, err := log.Recover(); err != nil || len(events) > 0 {
		t.Errorf("recovered %v, %v", events, err)
	}
	checkTexts(t, s, log.SessionID(), "one")
}

func otherTeam(t *testing.T, s coordinator.Store) {
	id := kept(t, s, team, noon, "one")
	kept(t, s, "others", noon, "two")
	for _, teamID := range []string{"others", "unheard-of"} {
		_, err := s.Open(teamID, id)
		var mismatch *coordinator.TeamMismatchError
		if !errors.As(err, &mismatch) {
			t.Errorf("open by %s: %v, want a *TeamMismatchError", teamID, err)
			continue
		}
		if want := (coordinator.TeamMismatchError{SessionID: id, Want: team, Got: teamID}); *mismatch != want {
			t.Errorf("the mismatch is %+v, want %+v", *mismatch, want)
		}
	}
	log := openLog(t, s, team, id) // a refused open holds no lock
	closeLog(t, log, log.State())
}

func twoTeams(t *testing.T, s coordinator.Store) {
	// Names that a careless file name would make one.
	teams := []string{"团队A", "团组A", "Dev", "dev", "../../etc", "a/b", "a_b", "con", strings.Repeat("long", 100)}
	ids := map[string]string{}
	for _, teamID := range teams {
		ids[teamID] = kept(t, s, teamID, noon, "of "+teamID)
	}
	for _, teamID := range teams {
		sessions := list(t, s, teamID)
		if len(sessions) != 1 || sessions[0].SessionID != ids[teamID] || sessions[0].TeamID != teamID {
			t.Errorf("%.20q has %+v", teamID, sessions)
		}
		if got, err := s.Latest(teamID); err != nil || got.SessionID != ids[teamID] {
			t.Errorf("the latest of %.20q is %+v, %v", teamID, got, err)
		}
	}
	_, err := s.Load("dev", ids["Dev"])
	checkNotFound(t, "load of another team's session", err)
	if err := s.Delete("dev", ids["Dev"]); err != nil {
		t.Error("delete of another team's session:", err)
	}
	if sessions := list(t, s, "Dev"); len(sessions) != 1 {
		t.Error("a team could delete another one's session")
	}
}

func newer(t *testing.T, s coordinator.Store) {
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
		var upgrade *coordinator.UpgradeError
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

func copiesIn(t *testing.T, s coordinator.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	batch := []journal.Record{created(log.SessionID(), team, noon), message("untouched", noon)}
	state := write(t, log, batch...)
	for _, r := range batch {
		for i := range r.Data {
			r.Data[i] = 'x'
		}
	}
	if err := log.Save(state); err != nil {
		t.Fatal(err)
	}
	want := asJSON(t, state)
	again := state.Clone()
	spoil(state)
	closeLog(t, log, again)
	spoil(again)
	checkTexts(t, s, log.SessionID(), "untouched")
	if got := openLog(t, s, team, log.SessionID()).State(); asJSON(t, got) != want {
		t.Errorf("the state is\n%s\nwant\n%s", asJSON(t, got), want)
	}
}

func copiesOut(t *testing.T, s coordinator.Store) {
	log, err := s.Create(team)
	if err != nil {
		t.Fatal(err)
	}
	events, err := log.Append(created(log.SessionID(), team, noon), message("untouched", noon))
	if err != nil {
		t.Fatal(err)
	}
	state := log.State()
	for _, e := range events {
		state.Apply(e)
		for i := range e.Data {
			e.Data[i] = 'x'
		}
	}
	want := asJSON(t, state)
	closeLog(t, log, state)

	snapshot := load(t, s, team, log.SessionID())
	snapshot.TeamID, snapshot.Context.Messages[0].Content = "spoilt", "spoilt"
	snapshot.Context.Messages = snapshot.Context.Messages[:0]
	list(t, s, team)[0].Title = "spoilt"
	checkTexts(t, s, log.SessionID(), "untouched")
	if got := list(t, s, team)[0]; got.Title != "untouched" {
		t.Errorf("the list has %+v", got)
	}
	again := openLog(t, s, team, log.SessionID())
	spoil(again.State())
	if got := asJSON(t, again.State()); got != want {
		t.Errorf("the state is\n%s\nwant\n%s", got, want)
	}
	closeLog(t, again, again.State())
	if got := openLog(t, s, team, log.SessionID()).State(); asJSON(t, got) != want {
		t.Errorf("after opening again the state is\n%s\nwant\n%s", asJSON(t, got), want)
	}
}

// spoil changes what a caller may change in a state.
func spoil(s *projection.State) {
	s.Row.Title, s.SessionID, s.Seq = "spoilt", "spoilt", 99
	s.Stats.ByMember["spoilt"] = 1
	for i := range s.Recent {
		s.Recent[i].Content = "spoilt"
	}
	for i := range s.Speakers {
		s.Speakers[i].Name = "spoilt"
	}
}

func sameJSON(t *testing.T, a, b any) bool {
	t.Helper()
	return asJSON(t, a) == asJSON(t, b)
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
