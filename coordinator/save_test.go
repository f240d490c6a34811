package coordinator_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestSessionCanBeLoadedBeforeStop(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		s := start(t, store, says("hi from ada"))
		s.say("hello there")
		// The session is neither stopped nor closed.
		snapshot, err := store.Load(t.Context(), "ensemble", s.Session().ID)
		if err != nil || len(snapshot.Context.Messages) != 2 || snapshot.Metadata.MessageCount != 2 {
			t.Errorf("the snapshot is %+v, %v", snapshot, err)
		}
	})
}

func TestDoesNotFailOnSaveError(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	d.FailFrom(1, syscall.ENOSPC)
	s.say("hello", "are you there?")
	s.checkMembers("ada", "ada")
	if len(s.recorder.failures) == 0 || !errors.Is(s.recorder.failures[0], syscall.ENOSPC) || s.recorder.saves() > 0 {
		t.Errorf("notified %q, %v", s.recorder.lines, s.recorder.failures)
	}
	if !s.Status().Unsaved {
		t.Error("the status is saved")
	}
}

func TestStatusIsSavedOnceAfterMessage(t *testing.T) {
	bothStores(t, func(t *testing.T, store store.Store) {
		s := start(t, store)
		s.say("hello")
		if n := s.recorder.saves(); n != 1 {
			t.Errorf("%d times: %q", n, s.recorder.lines)
		}
	})
}

func TestSavesBeforeHumanTurn(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d, says("a1 [NEXT: bob]"), says("b1"))
	s.say("hello") // two agents, one pause
	d.checkDurable("when the human is next")
	id := s.Session().ID
	want := []string{
		"said by you: hello", "status active", "turn of ada", "said by ada: a1", "end of ada: done",
		"turn of bob", "said by bob: b1", "end of bob: done", "status paused",
	}
	checkEqual(t, "notifications", s.recorder.lines, want)
	d.checkMessages(id, "you: hello", "ada: a1", "bob: b1")
}

// Stop seals the session: otherwise a damaged byte in the last batches would look like a torn write.
func TestStopMarksEveryEventAsSynced(t *testing.T) {
	for name, act := range map[string]func(*fixture){
		"after a turn":              func(s *fixture) { s.say("hello") },
		"after a queued member":     func(s *fixture) { s.say("hello [NEXT: ada, bob]") },
		"with members in the queue": func(s *fixture) { s.say("hello [NEXT: ada, you, bob]") },
		"after a task":              func(s *fixture) { s.SetTask("write a poem") },
	} {
		t.Run(name, func(t *testing.T) {
			d := onDisk(t, 0)
			s := start(t, d)
			act(s)
			events := d.events(s.stop())
			last := events[len(events)-1]
			if last.Type != "session.ended" || last.Synced != last.Seq-1 {
				t.Errorf("the last event is a %s, %d, with synced %d", last.Type, last.Seq, last.Synced)
			}
		})
	}
}

func TestSavesOnStop(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("hello")
	s.recorder.lines = nil
	id := s.stop()
	d.checkDurable("after the stop")
	checkEqual(t, "notifications", s.recorder.lines, []string{"status idle"})
	events := d.events(id)
	if last := events[len(events)-1]; last.Type != "session.ended" || string(last.Data) != `{"reason":"end"}` {
		t.Errorf("the last event is %s %s", last.Type, last.Data)
	}
	if s.Session() != nil || s.Waiting() != "" {
		t.Error("the session exists after Stop")
	}
	if err := s.Stop("again"); err != nil {
		t.Error("a second stop:", err)
	}
}

func TestSavesOnUserCancellation(t *testing.T) {
	d := onDisk(t, 0)
	ctx, cancel := context.WithCancel(context.Background())
	s := start(t, d, cancels(cancel, "half"))
	turnError(t, s.Say(ctx, "you", "hello"), "ada", projection.Cancelled)
	d.checkDurable("after the cancellation")
	if n := s.recorder.saves(); n != 1 {
		t.Errorf("saved %d times: %q", n, s.recorder.lines)
	}
}

func TestEventsAreDurableBeforeAgentStarts(t *testing.T) {
	d := onDisk(t, 0)
	var id string
	s := start(t, d)
	s.engine.then(
		calls(func() { d.checkDurable("when the first agent starts") }, says("a1 [NEXT: bob]")),
		calls(func() {
			d.checkDurable("when the second agent starts")
			paths, _ := filepath.Glob(filepath.Join(d.dir(), "*.jsonl"))
			id = strings.TrimSuffix(filepath.Base(paths[0]), ".jsonl")
			d.checkMessages(id, "you: hello", "ada: a1")
		}, says("b1")))
	s.say("hello")
	if id != s.Session().ID {
		t.Errorf("the session of the second agent is %q", id)
	}
	// One sync for each agent and one for the human.
	syncs := d.operations(func(kind, rest string) bool { return kind == "sync" && strings.HasSuffix(rest, ".jsonl") })
	if len(syncs) != 3 {
		t.Errorf("%d syncs, want 3", len(syncs))
	}
	if dirs := d.Count(journaltest.SyncDir); dirs == 0 {
		t.Error("the directories that lead to the journal were not synced")
	}
}

func TestSessionDoesNotAccessDisk(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("hello")
	before := d.Count()
	s.Session()
	if after := d.Count(); after != before {
		t.Errorf("Session made %d operations", after-before)
	}
}

func TestJournalHasEachNotifiedEventOnce(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("hello")
	checkEqual(t, "the events on the disk", d.events(s.Session().ID), s.recorder.appended)
}

// diskFault is a way in which the disk fails.
type diskFault struct {
	name    string
	err     error
	forever bool
	half    bool
}

var diskFaults = []diskFault{
	{"once EIO", syscall.EIO, false, false},
	{"once ENOSPC, half written", syscall.ENOSPC, false, true},
	{"until healed EACCES", syscall.EACCES, true, false},
	{"until healed ENOSPC, half written", syscall.ENOSPC, true, true},
	{"until healed EIO", syscall.EIO, true, false},
}

func (f diskFault) plan(d *disk, nth int) {
	d.HalfWrites(f.half)
	if f.forever {
		d.FailFrom(nth, f.err)
		return
	}
	d.Fail(nth, f.err)
}

// matters reports whether one of the failed operations should have been noticed. Harmless are those on the
// content of a lock file, the lock on the journal itself (some systems have only the lock file's), the caches,
// and the removal of a temporary file. A lock file and a journal are opened twice each, and only one of the
// two matters; since they look the same here, a failed open matters if noticed is true.
func (d *disk) matters(noticed bool) bool {
	return len(d.operations(func(kind, rest string) bool {
		name, _, failed := strings.Cut(rest, ": ")
		if failed && kind == "open" && (strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, ".jsonl")) {
			return noticed
		}
		harmless := kind == "remove" || kind == "lock" && !strings.HasSuffix(name, ".lock") || strings.Contains(name, "sessions.") ||
			strings.Contains(name, ".checkpoint.json") ||
			(kind == "write" || kind == "truncate") && strings.Contains(name, ".lock")
		return failed && !harmless
	})) > 0
}

// everyFailure runs a conversation repeatedly and fails its first, second, third … operation, until a
// run has fewer operations.
func everyFailure(t *testing.T, run func(t *testing.T, f diskFault, nth int) (failed bool)) {
	for _, f := range diskFaults {
		t.Run(f.name, func(t *testing.T) {
			n := 1
			for !t.Failed() && run(t, f, n) {
				n++
			}
			if n < 10 {
				t.Errorf("only %d operations were made to fail", n-1)
			}
		})
	}
}

// checkComplete checks that the journal has all messages, once and in order, and that the state equals
// its fold.
func (s *fixture) checkComplete(d *disk, want ...string) {
	s.t.Helper()
	session := s.Session()
	d.checkMessages(session.ID, want...)
	d.checkDurable("after the save point")
	events := d.events(session.ID)
	var state projection.State
	for i, e := range events {
		if e.Seq != uint64(i+1) {
			s.t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		state.Apply(e)
		if err := projection.Validate(e); err != nil {
			s.t.Errorf("event %d: %v\n%s", e.Seq, err, e.Line())
		}
	}
	if s.Status().Unsaved {
		s.t.Error("the status is unsaved")
	}
	if len(state.OpenTurns) > 0 || len(state.Unknown) > 0 || state.Row.Invalid > 0 {
		s.t.Errorf("open %v, unknown %v, unreadable %d", state.OpenTurns, state.Unknown, state.Row.Invalid)
	}
	checkEqual(s.t, "the statistics", session.Stats, state.Stats)
	if !session.UpdatedAt.Equal(state.Row.UpdatedAt) || len(session.Interrupted) > 0 {
		s.t.Errorf("updated %s, in the journal %s; interrupted %q", session.UpdatedAt, state.Row.UpdatedAt,
			session.Interrupted)
	}
}

func TestNewSessionIsCompleteAfterAnyFailure(t *testing.T) {
	everyFailure(t, func(t *testing.T, f diskFault, nth int) bool {
		d := onDisk(t, 0)
		s := start(t, d, says("a1 [NEXT: bob]"), says("b1"), says("a2"), says("a3"))
		f.plan(d, nth)
		s.say("one", "two")
		failed, noticed := d.Failed(), len(s.recorder.failures) > 0
		if d.matters(noticed) != noticed {
			t.Errorf("failures %v", s.recorder.failures)
		}
		for _, err := range s.recorder.failures {
			if !errors.Is(err, f.err) {
				t.Errorf("the failure is %v, want %v", err, f.err)
			}
		}
		d.Heal()
		s.recorder.lines = nil
		s.say("three")
		if s.recorder.count("save failed") > 0 && f.forever == false {
			t.Errorf("notified after the cause was gone: %q", s.recorder.lines)
		}
		s.checkMembers("ada", "bob", "ada", "ada")
		s.checkComplete(d, "you: one", "ada: a1", "bob: b1", "you: two", "ada: a2", "you: three", "ada: a3")
		checkEqual(t, "the notified events", s.recorder.appended, d.events(s.Session().ID))
		id := s.stop()
		resume(t, d, id).Stop("its lock was free")
		if t.Failed() {
			t.Logf("operation %d failed:\n%s", nth, strings.ReplaceAll(d.String(), d.root, ""))
		}
		return failed
	})
}

// crashedSession creates a session with an open turn and a torn tail.
func crashedSession(t *testing.T, d *disk) (id string) {
	t.Helper()
	said := message(by("you", "you", projection.TypeHuman), "zero")
	id = writeSession(t, d, said,
		projection.TurnStarted{TurnID: "t1", MemberID: "ada", TriggerMessageID: said.Message.ID},
		projection.TurnText{TurnID: "t1", Text: "half a re"})
	f, err := os.OpenFile(d.path(id), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"seq":5,"time":"2026-`); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestResumedSessionIsCompleteAfterAnyFailure(t *testing.T) {
	everyFailure(t, func(t *testing.T, f diskFault, nth int) bool {
		before := onDisk(t, 0)
		id := crashedSession(t, before)
		d := diskAt(t, before.root, 0)
		f.plan(d, nth)
		s := resume(t, d, id, says("a1 [NEXT: bob]"), says("b1"), says("a2"))
		lockable := f.forever || !d.Failed() // otherwise only the first lock failed, and the second succeeds
		s.say("one")
		failed := d.Failed()
		if d.matters(false) && lockable && len(s.recorder.failures) == 0 {
			t.Error("no failure was notified")
		}
		d.Heal()
		s.say("two")
		s.checkComplete(d, "you: zero", "you: one", "ada: a1", "bob: b1", "you: two", "ada: a2")
		events := d.events(id)
		if n := len(payloads[projection.SessionResumed](t, events)); n != 1 {
			t.Errorf("%d session.resumed", n)
		}
		if ends := payloads[projection.TurnEnded](t, events); len(ends) != 4 || ends[0].Partial != "half a re" {
			t.Errorf("the turns ended with %+v", ends)
		}
		recovered := payloads[projection.JournalRecovered](t, events)
		if len(recovered) == 0 || !slices.ContainsFunc(recovered,
			func(r projection.JournalRecovered) bool { return r.Aside != "" }) {
			t.Errorf("the recorded torn tail is %+v", recovered)
		}
		s.stop()
		if t.Failed() {
			t.Logf("operation %d failed:\n%s", nth, strings.ReplaceAll(d.String(), d.root, ""))
		}
		return failed
	})
}

func TestFailedStopReportsLossAndLeavesPrefix(t *testing.T) {
	everyFailure(t, func(t *testing.T, f diskFault, nth int) bool {
		d := onDisk(t, 0)
		s := start(t, d, says("a1 [NEXT: bob]"), says("b1"), says("a2"))
		f.plan(d, nth)
		s.say("one", "two")
		id := s.Session().ID
		err := s.Stop("end")
		failed := d.Failed()
		if f.forever && d.matters(err != nil) != (err != nil) {
			t.Errorf("stop: %v", err)
		}
		if err != nil && (!errors.Is(err, f.err) || !slices.Contains(s.recorder.lines, "save failed")) {
			t.Errorf("stop: %v, notified %q", err, s.recorder.lines)
		}
		if s.Status().Phase != coordinator.Idle || s.Session() != nil {
			t.Error("the conversation continues")
		}
		s.checkMembers("ada", "bob", "ada")
		d.Heal()

		all := []string{"you: one", "ada: a1", "bob: b1", "you: two", "ada: a2"}
		if _, statErr := os.Stat(d.path(id)); errors.Is(statErr, fs.ErrNotExist) && err != nil {
			return failed // it was never created
		}
		got := d.messages(id)
		if len(got) > len(all) || !slices.Equal(got, all[:len(got)]) {
			t.Errorf("the journal has %q", got)
		}
		if err == nil {
			d.checkMessages(id, all...)
		}
		if len(got) > 0 {
			again := resume(t, d, id)
			again.say("three")
			again.checkComplete(d, append(got, "you: three", "ada: ok")...)
			again.stop()
		}
		if t.Failed() {
			t.Logf("operation %d failed:\n%s", nth, strings.ReplaceAll(d.String(), d.root, ""))
		}
		return failed
	})
}

func TestSaveFailedHasCause(t *testing.T) {
	for kind, err := range map[journaltest.Kind]error{
		journaltest.Mkdir: syscall.EACCES, journaltest.Lock: syscall.EACCES, journaltest.Open: syscall.EACCES,
		journaltest.Write: syscall.ENOSPC, journaltest.Sync: syscall.EIO, journaltest.SyncDir: syscall.EIO,
	} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			d := onDisk(t, 0)
			s := start(t, d)
			d.FailFrom(1, err, kind)
			s.say("hello", "again")
			var path *fs.PathError
			if n := len(s.recorder.failures); n < 2 || !errors.Is(s.recorder.failures[n-1], err) ||
				!errors.As(s.recorder.failures[n-1], &path) {
				t.Fatalf("failures %v", s.recorder.failures)
			}
			if !strings.Contains(s.recorder.failures[0].Error(), d.root) {
				t.Errorf("%v has no path", s.recorder.failures[0])
			}
			d.Heal()
			s.say("now")
			s.checkComplete(d, "you: hello", "ada: ok", "you: again", "ada: ok", "you: now", "ada: ok")
			s.stop()
		})
	}
}

func TestTaskAndTitleSurviveFailure(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	d.FailFrom(1, syscall.EIO)
	if err := errors.Join(s.SetTask("a boat"), s.Rename("the boat")); err != nil {
		t.Fatal(err)
	}
	s.say("hello")
	if got := s.Session(); *got.TeamTask != "a boat" || got.Title != "the boat" || !s.Status().Unsaved {
		t.Errorf("the session is %+v", got)
	}
	d.Heal()
	s.say("now")
	s.checkComplete(d, "you: hello", "ada: ok", "you: now", "ada: ok")
	id := s.stop()
	if list, err := d.List(t.Context(), "ensemble"); err != nil || len(list) != 1 || list[0].Title != "the boat" {
		t.Errorf("the list is %+v, %v", list, err)
	}
	if got := resume(t, d, id).Session(); *got.TeamTask != "a boat" {
		t.Errorf("the task is %v", got.TeamTask)
	}
}

// The log keeps a batch whose write failed. It must not be appended again as pending.
func TestBatchKeptByLogIsNotWrittenTwice(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d, says("a1"), says("a2"), says("a3"))
	d.FailFrom(1, syscall.EACCES, journaltest.Open)
	s.say("one")
	d.Heal()
	d.FailFrom(1, syscall.ENOSPC, journaltest.Write)
	s.say("two")
	d.Heal()
	s.say("three")
	s.checkComplete(d, "you: one", "ada: a1", "you: two", "ada: a2", "you: three", "ada: a3")
	checkEqual(t, "the notified events", s.recorder.appended, d.events(s.Session().ID))
}

// startManual returns a coordinator that saves only on demand. With an id it restores that session.
func startManual(t *testing.T, d *disk, id string) *fixture {
	t.Helper()
	s := newFixture(t, d)
	options := s.options(d)
	options.ManualSave = true
	s.Coordinator = coordinator.New(options)
	s.setTeam(testTeam(), id)
	return s
}

func TestManualSaveWritesNothingBefore(t *testing.T) {
	d := onDisk(t, 0)
	s := startManual(t, d, "")
	if err := s.Save(); err != nil {
		t.Errorf("without a session: %v", err)
	}
	s.say("one", "two")
	if content := d.content(); len(content) > 0 || !s.Status().Unsaved || len(s.recorder.failures) > 0 {
		t.Errorf("the disk has %v, the status is %+v, failures %v", content, s.Status(), s.recorder.failures)
	}
	id := s.Session().ID
	if err := s.Save(); err != nil || s.Status().Unsaved {
		t.Fatalf("save: %v, %+v", err, s.Status())
	}
	d.checkDurable("after saving")
	d.checkMessages(id, "you: one", "ada: ok", "you: two", "ada: ok")

	s.say("three")
	d.checkMessages(id, "you: one", "ada: ok", "you: two", "ada: ok")
	s.stop()
	d.checkDurable("after the stop")
	d.checkMessages(id, "you: one", "ada: ok", "you: two", "ada: ok", "you: three", "ada: ok")
}

func TestManualSaveOfResumedSession(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	s.say("one")
	id := s.stop()
	before := d.content()

	s = startManual(t, d, id)
	s.say("two")
	if got := d.content()[d.path(id)]; got != before[d.path(id)] {
		t.Errorf("before saving, the journal has %d bytes, %d before", len(got), len(before[d.path(id)]))
	}
	d.FailFrom(1, syscall.ENOSPC)
	for notified := 1; notified <= 2; notified++ {
		err := s.Save()
		if !errors.Is(err, syscall.ENOSPC) || !s.Status().Unsaved || len(s.recorder.failures) != notified {
			t.Errorf("save on a full disk: %v, %+v, %v", err, s.Status(), s.recorder.failures)
		}
	}
	d.Heal()
	s.say("three")
	s.stop()
	d.checkMessages(id, "you: one", "ada: ok", "you: two", "ada: ok", "you: three", "ada: ok")
}

// countingStore counts its open logs.
type countingStore struct {
	store.Store
	open int
}

func (c *countingStore) Create(teamID, sessionID string) (store.Log, error) {
	log, err := c.Store.Create(teamID, sessionID)
	c.open++
	return countedLog{log, c}, err
}

type countedLog struct {
	store.Log
	store *countingStore
}

func (l countedLog) Close(state *projection.State) error {
	l.store.open--
	return l.Log.Close(state)
}

func TestRefusedFirstMessageLeavesNoOpenLog(t *testing.T) {
	logs := &countingStore{Store: onDisk(t, maxLine)}
	s := start(t, logs)
	if err := s.Say(context.Background(), "you", strings.Repeat("long ", maxLine)); !errors.Is(err, journal.ErrTooLong) {
		t.Fatal(err)
	}
	if logs.open != 0 || s.Session() != nil {
		t.Errorf("%d logs are open; the session is %v", logs.open, s.Session())
	}
	s.say("hello")
	if s.stop(); logs.open != 0 {
		t.Errorf("%d logs are open after the end", logs.open)
	}
}

func TestListenersAreNotifiedOfNamedEvents(t *testing.T) {
	d := onDisk(t, 0)
	s := start(t, d)
	check := func(s *fixture, want ...string) {
		t.Helper()
		if got := s.recorder.named; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		s.recorder.named = nil
	}
	check(s, "team:ready")
	s.say("hello")
	check(s, "session:saved")
	if err := s.Rename("A title"); err != nil {
		t.Fatal(err)
	}
	check(s, "session:saved")
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	check(s, "session:saved")
	id := s.Session().ID
	d.FailFrom(1, syscall.ENOSPC)
	s.say("hello")
	check(s)
	d.FailFrom(0, nil)
	if err := s.Stop("done"); err != nil {
		t.Fatal(err)
	}
	check(s, "session:saved")
	again := resume(t, d, id)
	check(again, "session:restored", "team:ready")
	if err := again.Stop("done"); err != nil {
		t.Fatal(err)
	}
	check(again) // nothing was appended
	if err := again.SetTeam(t.Context(), testTeam(), coordinator.SetTeamOptions{ResumeSessionID: "01ARZ3NDEKTSV4RRFFQ69G5FAV"}); err == nil {
		t.Error("a missing session was restored")
	}
	check(again)
}
