package coordinator_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/oklog/ulid/v2"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func by(id, name, kind string) projection.Speaker {
	return projection.Speaker{ID: id, Name: name, DisplayName: name, Type: kind}
}

func message(by projection.Speaker, text string) projection.MessageAppended {
	return projection.NewMessage(ulid.Make().String(), noon, by, text, nil)
}

// oneRound creates a session of two messages and stops.
func oneRound(t *testing.T, store store.Store) (id string) {
	t.Helper()
	s := start(t, store, says("hi from ada"))
	s.say("hello there")
	return s.stop()
}

func TestRestoresSessionWhenResumeSessionIDIsProvided(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		s := resume(t, store, id)
		if got := s.Session(); got == nil || got.ID != id || got.Stats.Messages != 2 {
			t.Errorf("the session is %+v, want %s with 2 messages", got, id)
		}
	})
}

func TestStartsFreshWhenResumeSessionIDIsNotProvided(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		s := start(t, store)
		if s.Session() != nil {
			t.Errorf("the session before the first message is %+v", s.Session())
		}
		s.say("something else")
		if s.Session().ID == id {
			t.Error("the old session has new events")
		}
		if strings.Contains(s.engine.prompt(), "hello there") {
			t.Errorf("the prompt has history:\n%s", s.engine.prompt())
		}
	})
}

func TestClearsPreviousStateBeforeRestore(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		s := start(t, store, says("over [NEXT: eve, bob]"))
		s.say("secret words")
		other := s.Session().ID
		if s.Waiting() != "eve" || len(s.Queue()) != 1 {
			t.Fatalf("waiting for %q, queue %v", s.Waiting(), s.Queue())
		}
		s.setTeam(testTeam(), id)
		if s.Session().ID != id || s.Waiting() != "you" || len(s.Queue()) != 0 {
			t.Errorf("session %s, waiting for %q, queue %v", s.Session().ID, s.Waiting(), s.Queue())
		}
		s.say("again")
		if strings.Contains(s.engine.prompt(), "secret words") {
			t.Errorf("the prompt has messages of another session:\n%s", s.engine.prompt())
		}
		again := resume(t, store, other) // its lock is free
		again.Stop("end")
	})
}

func TestSecondSetTeamClearsState(t *testing.T) {
	s := start(t, &store.Memory{}, says("over [NEXT: eve, bob]"))
	s.say("hello")
	team := testTeam()
	s.setTeam(team, "")
	s.checkClean(team)
}

func TestRestoreFailsIfTeamIsNotSet(t *testing.T) {
	s := newFixture(t, &store.Memory{})
	err := s.SetTeam(context.Background(), nil, coordinator.SetTeamOptions{ResumeSessionID: ulid.Make().String()})
	if !errors.Is(err, coordinator.ErrNoTeam) {
		t.Errorf("restore: %v, want %v", err, coordinator.ErrNoTeam)
	}
	if err := s.Say(context.Background(), "", "hello"); !errors.Is(err, coordinator.ErrNoTeam) {
		t.Errorf("say: %v, want %v", err, coordinator.ErrNoTeam)
	}
	s.checkClean(nil)
}

// failedRestore checks that a restore fails, that the coordinator has a team and no session then, and
// that a conversation can begin.
func failedRestore(t *testing.T, store store.Store, id string, isRight func(error) bool) {
	t.Helper()
	s := start(t, store, says("over [NEXT: eve, bob]"))
	s.say("before")
	before, _ := store.List(t.Context(), "ensemble")
	team := testTeam()
	s.recorder.lines = nil
	err := s.SetTeam(context.Background(), team, coordinator.SetTeamOptions{ResumeSessionID: id})
	if !isRight(err) {
		t.Errorf("the error is %v (%T)", err, err)
	}
	s.checkClean(team)
	if len(s.recorder.lines) > 0 {
		t.Errorf("notified %q", s.recorder.lines)
	}
	if after, _ := store.List(t.Context(), "ensemble"); len(after) != len(before) {
		t.Errorf("%d sessions, want %d", len(after), len(before))
	}
	asked := len(s.engine.members())
	s.say("a new beginning")
	if s.Session().ID == id || len(s.engine.members()) != asked+1 {
		t.Errorf("session %s, members %v", s.Session().ID, s.engine.members())
	}
}

func TestRestoreFailsIfSessionIsNotFound(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		for _, id := range []string{ulid.Make().String(), "01", "../../etc/passwd"} {
			failedRestore(t, store, id, func(err error) bool { return errors.Is(err, journal.ErrNotFound) })
		}
	})
}

func TestRestoreFailsIfTeamIDMismatches(t *testing.T) {
	bothStores(t, func(t *testing.T, sessions store.Store) {
		s := newFixture(t, sessions)
		others := testTeam()
		others.ID, others.Name = "others", "others"
		s.setTeam(others, "")
		s.say("hello")
		id := s.stop()
		failedRestore(t, sessions, id, func(err error) bool {
			var mismatch *store.TeamMismatchError
			return errors.As(err, &mismatch) && mismatch.Want == "others" && mismatch.Got == "ensemble" &&
				mismatch.SessionID == id
		})
	})
}

func TestRestoreFailsIfSessionIsLocked(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		writer := start(t, store)
		writer.say("mine")
		failedRestore(t, store, writer.Session().ID, func(err error) bool {
			var locked *journal.LockedError
			return errors.As(err, &locked)
		})
	})
}

func TestRestoreFailsIfNewerVersionWrote(t *testing.T) {
	bothStores(t, func(t *testing.T, sessions store.Store) {
		s := start(t, sessions)
		s.say("hello")
		id := s.stop()
		log, state, err := sessions.Open(t.Context(), "ensemble", id)
		if err != nil {
			t.Fatal(err)
		}
		events, err := log.Append(journal.Record{Type: "message.appended", Data: json.RawMessage(`{"v":2}`)})
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(events[0])
		log.Close(state)
		failedRestore(t, sessions, id, func(err error) bool {
			var upgrade *store.UpgradeError
			return errors.As(err, &upgrade)
		})
	})
}

func TestRestoreFailsIfJournalIsDamaged(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	damage(t, d.path(id))
	failedRestore(t, d, id, func(err error) bool {
		var corrupt *journal.CorruptError
		return errors.As(err, &corrupt)
	})
}

// damage changes a byte in the first line of a journal and removes the caches.
func damage(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	data[50] ^= 1
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	os.Remove(strings.TrimSuffix(path, ".jsonl") + ".checkpoint.json")
	os.Remove(filepath.Join(filepath.Dir(path), "sessions.json"))
}

func TestRestoreFailsIfContextIsCanceled(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	s := newFixture(t, d)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	team := testTeam()
	if err := s.SetTeam(ctx, team, coordinator.SetTeamOptions{ResumeSessionID: id}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	s.checkClean(team)
}

func TestWarnsOnMemberConsistencyIssues(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		s := newFixture(t, store)
		s.setTeam(without(testTeam(), "ada"), id) // it restores all the same
		if got := s.Session(); got == nil || got.ID != id {
			t.Errorf("the session is %+v", got)
		}
		if s.recorder.count("missing") != 1 {
			t.Errorf("notified %q", s.recorder.lines)
		}
		s.say("continue")
		s.checkMembers("bob")
		if missing := payloads[projection.SessionResumed](t, s.recorder.appended)[0].Missing; len(missing) != 1 ||
			missing[0].ID != "ada" {
			t.Errorf("the recorded missing members are %v", missing)
		}
	})
}

func TestMissingMembersAreSortedAndUnique(t *testing.T) {
	ada, zoe := by("ada", "ada", projection.TypeAI), by("zoe", "Zoe", projection.TypeAI)
	max, you := by("max", "Max", projection.TypeHuman), by("you", "you", projection.TypeHuman)
	system, robot := by("system", "System", projection.TypeSystem), by("robot", "Robot", projection.TypeSystem)
	for _, test := range []struct {
		name     string
		speakers []projection.Speaker
		want     []projection.MemberRef
	}{
		{"should not warn when all members exist", []projection.Speaker{you, ada, you, ada}, nil},
		{"should not warn without messages", nil, nil},
		{
			"should warn with missing member names", []projection.Speaker{you, zoe},
			[]projection.MemberRef{{ID: "zoe", Name: "Zoe"}},
		},
		{
			"should name each speaker once", []projection.Speaker{zoe, you, max, zoe, ada, max},
			[]projection.MemberRef{{ID: "zoe", Name: "Zoe"}, {ID: "max", Name: "Max"}},
		},
		{"should skip system messages", []projection.Speaker{system, robot, you}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			bothStores(t, func(t *testing.T, store store.Store) {
				var said []projection.Payload
				for _, s := range test.speakers {
					said = append(said, message(s, "words"))
				}
				s := resume(t, store, writeSession(t, store, said...))
				checkEqual(t, "missing", s.recorder.missing, test.want)
				if test.want == nil && s.recorder.count("missing") > 0 {
					t.Errorf("notified without missing members: %q", s.recorder.lines)
				}
			})
		})
	}
}

func TestMissingMembersAreNotifiedBeforeStatus(t *testing.T) {
	store := &store.Memory{}
	id := writeSession(t, store, message(by("zoe", "Zoe", projection.TypeAI), "hi"))
	s := resume(t, store, id)
	checkEqual(t, "notifications", s.recorder.lines, []string{
		"missing [{zoe Zoe}]", "status paused", "restored " + id + " 1",
	})
}

func TestRestoreNotifiesInOrder(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		s := resume(t, store, id)
		checkEqual(t, "notifications", s.recorder.lines, []string{"status paused", "restored " + id + " 2"})
		fresh := start(t, store)
		checkEqual(t, "notifications without a restore", fresh.recorder.lines, []string(nil))
	})
}

func TestMigratesLegacySpeakerFields(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := writeSession(t, store, message(by("you", "you", projection.TypeHuman), "first"))
		log, state, err := store.Open(t.Context(), "ensemble", id)
		if err != nil {
			t.Fatal(err)
		}
		events, err := log.Append(journal.Record{Type: "message.appended", Data: json.RawMessage(`{"message":{"id":"m2",
			"timestamp":"2025-11-27T10:30:00.000Z","content":"old words",
			"speaker":{"roleId":"ada","roleName":"ada","roleTitle":"Ada the First","type":"ai"},
			"routing":{"rawNextMarkers":["you"],
			"resolvedAddressees":[{"identifier":"you","roleId":"you","roleName":"you"}]}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(events[0])
		log.Close(state)

		s := resume(t, store, id)
		want := projection.Speaker{ID: "ada", Name: "ada", DisplayName: "Ada the First", Type: projection.TypeAI}
		if got := s.messages()[1].Speaker; got != want {
			t.Errorf("the speaker is %+v, want %+v", got, want)
		}
		if len(s.recorder.missing) > 0 {
			t.Errorf("the missing members are %v", s.recorder.missing)
		}
		s.say("more")
		if !strings.Contains(s.engine.prompt(), "Ada the First -> you: old words") {
			t.Errorf("the prompt is\n%s", s.engine.prompt())
		}
	})
}

func TestImportsContextCorrectly(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		first := start(t, store, says("hi from ada"))
		first.say("hello there [TEAM_TASK: build a boat]")
		id := first.stop()

		s := resume(t, store, id)
		got := s.Session()
		if got.TeamTask == nil || *got.TeamTask != "build a boat" {
			t.Errorf("the task is %v", got.TeamTask)
		}
		var contents []string
		for _, entry := range s.messages() {
			contents = append(contents, entry.Content)
		}
		checkEqual(t, "the messages", contents, []string{"hello there [TEAM_TASK: build a boat]", "hi from ada"})
		snapshot, err := store.Load(t.Context(), "ensemble", id)
		if err != nil || snapshot.Context.Version != 1 || snapshot.Context.Timestamp == 0 {
			t.Errorf("the context is %+v, %v", snapshot, err)
		}
	})
}

func TestRebuildsSessionWithCorrectStats(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		first := start(t, store, says("a1 [NEXT: bob]"), says("b1"), says("a2"))
		first.say("one", "two")
		before := first.Session()
		id := first.stop()

		s := resume(t, store, id)
		got := s.Session()
		checkEqual(t, "the statistics", got.Stats, before.Stats)
		checkEqual(t, "messages by member", got.Stats.ByMember, map[string]int{"you": 2, "ada": 2, "bob": 1})
		if got.ID != id || got.TeamID != "ensemble" || got.TeamName != "ensemble" ||
			s.Status().Phase != coordinator.Paused {
			t.Errorf("the session is %+v", got)
		}
		if got.Title != "one" {
			t.Errorf("the title is %q", got.Title)
		}
		if !got.CreatedAt.Equal(before.CreatedAt) || !got.UpdatedAt.Equal(before.UpdatedAt) || got.Duration < 0 {
			t.Errorf("created %s, updated %s, duration %s", got.CreatedAt, got.UpdatedAt, got.Duration)
		}
		if s.Status().Unsaved {
			t.Error("unsaved before the first message")
		}
	})
}

func TestRestoreResetsToReadyIdleState(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		first := start(t, store, says("over [NEXT: eve, bob]"))
		first.say("hello")
		if len(first.Queue()) != 1 || first.Waiting() != "eve" {
			t.Fatalf("queue %v, waiting %s", first.Queue(), first.Waiting())
		}
		id := first.stop()

		s := resume(t, store, id)
		if s.Status().Phase != coordinator.Paused || s.Waiting() != "you" || len(s.Queue()) != 0 {
			t.Errorf("status %v, waiting %q, queue %v", s.Status(), s.Waiting(), s.Queue())
		}
		s.checkMembers()
	})
}

func TestRestoreOfTeamWithoutHumans(t *testing.T) {
	store := &store.Memory{}
	id := oneRound(t, store)
	s := newFixture(t, store)
	s.setTeam(without(without(testTeam(), "you"), "eve"), id)
	if s.Waiting() != "" || s.Status().Phase != coordinator.Paused {
		t.Errorf("waiting %q, status %v", s.Waiting(), s.Status())
	}
}

func TestRestoreWritesNothing(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	// As a crash leaves it: half a line.
	f, err := os.OpenFile(d.path(id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(`{"seq":9,"time":"2026`)
	f.Close()
	before := d.content()

	s := resume(t, d, id)
	checkEqual(t, "the files after the restore", d.content(), before)
	if err := s.Stop("nothing was said"); err != nil {
		t.Error("stop:", err)
	}
	checkEqual(t, "the files after the stop", d.content(), before)
	s.checkMembers()
	if len(s.recorder.appended) > 0 {
		t.Errorf("appended %v", s.recorder.types())
	}
}

func TestNothingIsWrittenBeforeFirstMessage(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	if err := s.Stop("nothing was said"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(d.root)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory exists: %v", err)
	}
	if s.recorder.saves() > 0 {
		t.Errorf("notified %q", s.recorder.lines)
	}
}

func TestRestoreAndContinueConversation(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		id := oneRound(t, store)
		want := []string{"hello there", "hi from ada"}
		for _, run := range []string{"second", "third"} {
			s := resume(t, store, id, says("answer to the "+run))
			s.say("run the " + run)
			want = append(want, "run the "+run, "answer to the "+run)
			if got := s.stop(); got != id {
				t.Errorf("the session is %s, want %s", got, id)
			}
			snapshot, err := store.Load(t.Context(), "ensemble", id)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range snapshot.Context.Messages {
				got = append(got, m.Content)
			}
			checkEqual(t, "the messages", got, want)
		}
		if list, _ := store.List(t.Context(), "ensemble"); len(list) != 1 {
			t.Errorf("%d sessions", len(list))
		}
	})
}

func TestFirstMessageAfterRestoreRecordsChanges(t *testing.T) {
	d := onDisk(t, 0)
	id := oneRound(t, d)
	s := newFixture(t, d)
	changed := testTeam()
	changed.Members[1].Model = "m2"
	changed.Source = &team.Source{Path: "/teams/e.json", SHA256: strings.Repeat("a", 64)}
	s.setTeam(changed, id)
	s.say("hello again")
	s.say("and again")
	resumed := payloads[projection.SessionResumed](t, d.events(id))
	if len(resumed) != 1 {
		t.Fatalf("%d session.resumed", len(resumed))
	}
	checkEqual(t, "session.resumed", resumed[0], projection.SessionResumed{
		App: projection.App{Name: "test", Version: "1"}, CWD: "/somewhere",
		Source: &projection.Source{Path: "/teams/e.json", SHA256: strings.Repeat("a", 64)},
		Changed: []projection.MemberChange{{MemberRef: projection.MemberRef{ID: "bob", Name: "bob"},
			Model: &projection.Change{From: "m1", To: "m2"}}},
	})
	if s.recorder.count("notice MemberChanged Bob {m1 m2}") != 1 {
		t.Errorf("notified %q", s.recorder.lines)
	}
	s.stop()

	again := newFixture(t, d)
	again.setTeam(changed, id)
	if n := again.recorder.count("notice MemberChanged Bob {m1 m2}"); n != 0 {
		t.Errorf("notified %d times by a restore without changes", n)
	}
	again.stop()
	back := testTeam()
	back.Source = changed.Source
	again = newFixture(t, d)
	again.setTeam(back, id)
	if again.recorder.count("notice MemberChanged Bob {m2 m1}") != 1 {
		t.Errorf("notified %q", again.recorder.lines)
	}
}

func TestMemberEnvironmentIsNotRecorded(t *testing.T) {
	d := onDisk(t, 0)
	s := newFixture(t, d)
	team := testTeam()
	team.Members[0].Env = map[string]string{"API_KEY": "sk-very-secret"}
	s.setTeam(team, "")
	s.say("hello")
	s.stop()
	for path, content := range d.content() {
		if strings.Contains(content, "sk-very-secret") || strings.Contains(content, "API_KEY") {
			t.Errorf("%s has it", path)
		}
	}
	if got := s.engine.turns[0].Member.Env["API_KEY"]; got != "sk-very-secret" {
		t.Errorf("the agent got %q", got)
	}
}

func TestInterruptedTurnIsEndedWithTheNextMessage(t *testing.T) {
	d := onDisk(t, 0)
	said := message(by("you", "you", projection.TypeHuman), "do it")
	id := writeSession(t, d, said,
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", AgentType: "x", TriggerMessageID: said.Message.ID},
		projection.ToolStarted{TurnID: "t1", ToolID: "c1", Name: "grep", Input: json.RawMessage(`{"for":"needle"}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "c1", Name: "grep", Output: "found"},
		projection.ToolStarted{TurnID: "t1", ToolID: "c2", Name: "make"},
		projection.TurnText{TurnID: "t1", Text: "I have found the "},
		projection.TurnText{TurnID: "t1", Text: "needle [NEXT: bob]"})
	before := d.content()

	s := resume(t, d, id)
	checkEqual(t, "the files after the restore", d.content(), before)
	if got := s.Session().Interrupted; !slices.Equal(got, []string{"ada"}) {
		t.Errorf("the interrupted members are %q, want ada", got)
	}
	old := len(d.events(id))
	writes := func() int {
		return len(d.operations(func(kind, rest string) bool {
			return kind == "write" &&
				strings.Contains(rest, id+".jsonl")
		}))
	}
	written, atSaid := writes(), 0
	s.recorder.onMessage = func() {
		if atSaid == 0 {
			atSaid = writes() - written
		}
	}
	s.say("what happened?")

	if atSaid != 1 {
		t.Errorf("%d writes before the message, want one batch", atSaid)
	}
	events := d.events(id)[old:]
	var types []string
	for _, e := range events[:4] {
		types = append(types, e.Type)
	}
	checkEqual(t, "the batch", types, []string{"session.resumed", "tool.completed", "turn.ended", "message.appended"})
	checkEqual(t, "the tool's end", payloads[projection.ToolCompleted](t, events), []projection.ToolCompleted{
		{TurnID: "t1", ToolID: "c2", Name: "make", Error: "interrupted"},
	})
	checkEqual(t, "the turn's end", payloads[projection.TurnEnded](t, events)[0], projection.TurnEnded{
		TurnID: "t1", MemberID: "ada", FinishReason: projection.Interrupted,
		Partial: "I have found the needle [NEXT: bob]",
	})
	s.checkMembers("ada") // the marker of the partial reply was not obeyed
	if prompt := s.engine.prompt(); strings.Contains(prompt, "needle") || strings.Contains(prompt, "grep") ||
		!strings.Contains(prompt, "You: do it") && !strings.Contains(prompt, "you: do it") {
		t.Errorf("the prompt is\n%s", prompt)
	}
	if got := s.Session().Interrupted; len(got) > 0 {
		t.Errorf("the interrupted member after a finished turn is %q", got)
	}
}

func TestTurnsOpenAtOnceAreEndedAndRerun(t *testing.T) {
	d := onDisk(t, 0)
	said := message(by("you", "you", projection.TypeHuman), "do it, both")
	reply := message(by("ada", "ada", projection.TypeAI), "Done.")
	reply.TurnID = "t1"
	started := func(id, member string) projection.TurnStarted {
		return projection.TurnStarted{TurnID: id, MemberID: member, TriggerMessageID: said.Message.ID}
	}
	id := writeSession(t, d, said, started("t1", "ada"), started("t2", "bob"), started("t3", "ada"),
		projection.TurnText{TurnID: "t2", Text: "one"}, projection.TurnText{TurnID: "t3", Text: "two"}, reply)
	s := resume(t, d, id, says("one"), says("two"))
	checkEqual(t, "interrupted", s.Session().Interrupted, []string{"bob", "ada"})
	old := len(d.events(id))
	if err := s.Retry(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ends []string
	for _, end := range payloads[projection.TurnEnded](t, d.events(id)[old:]) {
		ends = append(ends, fmt.Sprint(end.MemberID, " ", end.FinishReason, " ", end.Partial))
	}
	checkEqual(t, "the ends", ends,
		[]string{"ada done ", "bob interrupted one", "ada interrupted two", "bob done ", "ada done "})
	for i, begun := range payloads[projection.TurnStarted](t, d.events(id)[old:]) {
		reply := payloads[projection.MessageAppended](t, d.events(id)[old:])[i]
		if begun.TriggerMessageID != said.Message.ID || reply.TurnID != begun.TurnID {
			t.Errorf("turn %+v has the reply %+v", begun, reply)
		}
	}
	if got := s.Session().Interrupted; len(got) > 0 {
		t.Errorf("%q are interrupted", got)
	}
}

// A coordinator that is not stopped leaves the same files as a killed program.
func TestOpenTurnIsInterruptedAfterRestart(t *testing.T) {
	d := onDisk(t, 0)
	entered, release := make(chan struct{}), make(chan struct{})
	killed := start(t, d, calls(func() { close(entered); <-release }, says("too late")))
	done := make(chan error)
	go func() { done <- killed.Say(context.Background(), "you", "do it") }()
	<-entered
	// The file as it is while the agent works, on another disk.
	other := onDisk(t, 0)
	if err := os.MkdirAll(other.dir(), 0o700); err != nil {
		t.Fatal(err)
	}
	paths, _ := filepath.Glob(filepath.Join(d.dir(), "*.jsonl"))
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	id := strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")
	if err := os.WriteFile(other.path(id), data, 0o600); err != nil {
		t.Fatal(err)
	}
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}

	s := resume(t, other, id)
	s.say("again")
	ends := payloads[projection.TurnEnded](t, other.events(id))
	if len(ends) != 2 || ends[0].FinishReason != projection.Interrupted || ends[1].FinishReason != projection.Done {
		t.Errorf("the turns ended with %+v", ends)
	}
	other.checkMessages(id, "you: do it", "you: again", "ada: ok")
	if i := slices.IndexFunc(other.events(id),
		func(e journal.Event) bool { return e.Type == "session.resumed" }); i < 0 {
		t.Error("there is no session.resumed")
	}
}
