package sessioncopy_test

import (
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

func mustMerge(t testing.TB, dir *catalog.Dir, a, b string) string {
	t.Helper()
	merged, err := sessioncopy.Merge(ctx, dir, a, b)
	if err != nil {
		t.Fatal(err)
	}
	return merged.ID
}

func mustFork(t testing.TB, dir *catalog.Dir, id string) string {
	t.Helper()
	fork, err := sessioncopy.Fork(ctx, dir, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fork
}

func TestMergeCopiesEachExchangeOnce(t *testing.T) {
	for name, c := range map[string]struct {
		sessions func(t *testing.T, dir *catalog.Dir) (a, b string)
		want     []string
	}{
		"diverged": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, id(1), 10, "first", ">one")
			say(t, dir, b, 20, "second", ">two")
			say(t, dir, id(1), 30, "third", ">three")
			return b, id(1)
		}, []string{"hello", ">hi", "first", ">one", "second", ">two", "third", ">three"}},
		"merged before": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, id(1), 10, "first", ">one")
			say(t, dir, b, 5, "second", ">two")
			return mustMerge(t, dir, id(1), b), id(1)
		}, []string{"hello", ">hi", "second", ">two", "first", ">one"}},
		"merged before, within an exchange": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, b, 5, "second", ">two")
			say(t, dir, id(1), 10, "first", ">one")
			a = mustMerge(t, dir, id(1), b)
			say(t, dir, id(1), 12, ">one and a half", "third")
			return a, id(1)
		}, []string{"hello", ">hi", "second", ">two", "first", ">one", ">one and a half", "third"}},
		"diverged within an exchange": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, b, 5, "second", ">two")
			say(t, dir, id(1), 10, ">late", "first", ">one")
			return id(1), b
		}, []string{"hello", ">hi", ">late", "second", ">two", "first", ">one"}},
		"merged with a wrong clock": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, b, 50, "second", ">two")
			say(t, dir, id(1), 60, "first")
			a = mustMerge(t, dir, id(1), b)
			say(t, dir, id(1), 10, ">one")
			say(t, dir, id(1), 11, "third")
			return a, id(1)
		}, []string{"hello", ">hi", "second", ">two", "first", ">one", "third"}},
		"merged, continued, merged again": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, id(1), 10, "first", ">one")
			say(t, dir, b, 20, "second", ">two")
			a = mustMerge(t, dir, id(1), b)
			say(t, dir, b, 30, "third", ">three")
			a = mustMerge(t, dir, a, b)
			say(t, dir, b, 40, "fourth")
			return b, a
		}, []string{"hello", ">hi", "first", ">one", "second", ">two", "third", ">three", "fourth"}},
		"merge of two merges": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			other := mustFork(t, dir, id(1))
			say(t, dir, id(1), 10, "first", ">one")
			say(t, dir, other, 20, "second", ">two")
			a = mustMerge(t, dir, id(1), other)
			third := mustFork(t, dir, other)
			say(t, dir, third, 30, "third")
			say(t, dir, a, 40, "fourth")
			return a, mustMerge(t, dir, third, id(1))
		}, []string{"hello", ">hi", "first", ">one", "second", ">two", "third", "fourth"}},
		"merged before, diverged within an exchange": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, id(1), 10, ">late")
			say(t, dir, b, 11, ">later")
			a = mustMerge(t, dir, id(1), b)
			say(t, dir, b, 13, ">latest", "first")
			return a, b
		}, []string{"hello", ">hi", ">late", ">later", ">latest", "first"}},
		"merged in both orders within an exchange": {func(t *testing.T, dir *catalog.Dir) (a, b string) {
			b = mustFork(t, dir, id(1))
			say(t, dir, id(1), 10, ">late")
			say(t, dir, b, 11, ">later", "first")
			return mustMerge(t, dir, id(1), b), mustMerge(t, dir, b, id(1))
		}, []string{"hello", ">hi", ">late", ">later", "first"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, dir := newTeam(t, journal.Options{})
			put(t, dir, id(1), header(id(1)), message(1, mia, "hello"), message(2, ada, ">hi"))
			a, b := c.sessions(t, dir)
			got := texts(t, dir, mustMerge(t, dir, a, b))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

// Both sessions set the task to "tea", but the second one to "soup" before that. If its "tea" were left
// out as a copy of the first one's, the task would be "soup".
func TestMergeCopiesEqualEventsAfterADifference(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	task := func(text string) journal.Record {
		return projection.Record(created.Add(time.Hour), projection.TaskSet{Task: &text})
	}
	start := []journal.Record{message(1, mia, "hello"), message(2, ada, ">hi"), message(3, mia, "first")}
	only := message(2, ada, ">mine") // in the first session before the exchange
	put(t, dir, id(1), append([]journal.Record{header(id(1)), start[0], only, start[2]}, task("tea"))...)
	put(t, dir, id(2), append([]journal.Record{header(id(2))}, append(start, task("soup"), task("tea"))...)...)
	state, _, err := dir.Load(ctx, mustMerge(t, dir, id(1), id(2)))
	if err != nil {
		t.Fatal(err)
	}
	if task := state.Task; task == nil || *task != "tea" {
		t.Errorf("the task is not tea: %+v", state)
	}
}

func TestMergeHasMembersOfBoth(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	for n, names := range [][]string{{"mia", "ada"}, {"bob", "ada", "eve"}} {
		team := projection.Team{ID: "kitchen", Name: "kitchen"}
		for _, name := range names {
			team.Members = append(team.Members, projection.Member{ID: name, Name: name, Type: projection.TypeAI,
				DisplayName: fmt.Sprint(name, " of ", n+1)})
		}
		put(t, dir, id(n+1), projection.Record(created, projection.SessionCreated{
			Format: 1, SessionID: id(n + 1), Team: team, App: projection.App{Name: "test", Version: "1"},
		}), message(1, mia, "hello"))
	}
	state, _, err := dir.Load(ctx, mustMerge(t, dir, id(1), id(2)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range state.Team.Members {
		got = append(got, m.DisplayName)
	}
	if diff := cmp.Diff([]string{"mia of 1", "ada of 1", "bob of 2", "eve of 2"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Whatever cannot be read, a copy is complete or returns the error.
func TestReadErrorIsReturned(t *testing.T) {
	racetest.SkipSequential(t)
	for name, test := range map[string]struct {
		copySession func(dir *catalog.Dir) (string, error)
		want        []string
	}{
		"Fork": {func(dir *catalog.Dir) (string, error) { return sessioncopy.Fork(ctx, dir, id(1), 0) },
			[]string{"hello", "well"}},
		"Merge": {func(dir *catalog.Dir) (string, error) {
			merged, err := sessioncopy.Merge(ctx, dir, id(1), id(2))
			return merged.ID, err
		}, []string{"hello", "well", "more", "yes"}},
		"Import": {func(dir *catalog.Dir) (string, error) {
			_, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well", "more"), keepSecrets)
			return id(1), err
		}, []string{"hello", "well", "more"}},
		"ImportEvents": {func(dir *catalog.Dir) (string, error) {
			_, err := importEvents(t, dir, "hello", "well", "more")
			return id(1), err
		}, []string{"hello", "well", "more"}},
		"ImportBranch": {func(dir *catalog.Dir) (string, error) {
			branch := transcriptOf(t, "pi", `{"type":"session","id":"b"}`+"\n"+
				`{"type":"message","id":"m1","timestamp":"2026-11-21T02:31:00Z","message":{"role":"user","content":"hello"}}`)
			_, err := sessioncopy.ImportBranch(ctx, dir, id(1), branch, keepSecrets)
			return branch.ID, err
		}, []string{"hello"}},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				disk := journaltest.New(vfs.OS)
				c, dir := newTeam(t, journal.Options{FS: disk})
				if _, err := importEvents(t, dir, "hello", "well"); err != nil {
					t.Fatal(err)
				}
				put(t, dir, id(2), conversation(id(2), "more", "yes")...)
				disk.Fail(n, syscall.EIO, journaltest.Read)
				made, err := test.copySession(dir)
				failed := disk.Failed()
				disk.Heal()
				if err != nil && !errors.Is(err, syscall.EIO) {
					t.Errorf("read %d: %v", n, err)
				}
				if err == nil {
					if diff := cmp.Diff(test.want, texts(t, dir, made)); diff != "" {
						t.Errorf("read %d (-want +got):\n%s", n, diff)
					}
				}
				if sessions := list(t, c); slices.ContainsFunc(sessions, func(s catalog.Session) bool { return s.Damaged != "" }) {
					t.Errorf("read %d: %+v", n, sessions)
				}
				if !failed || t.Failed() {
					return
				}
			}
		})
	}
}

func TestFailedCopyLeavesNoSession(t *testing.T) {
	for name, copySession := range map[string]func(dir *catalog.Dir) (string, error){
		"fork": func(dir *catalog.Dir) (string, error) { return sessioncopy.Fork(ctx, dir, id(1), 0) },
		"merge": func(dir *catalog.Dir) (string, error) {
			merged, err := sessioncopy.Merge(ctx, dir, id(1), id(2))
			return merged.ID, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				disk := journaltest.New(vfs.OS)
				c, dir := newTeam(t, journal.Options{FS: disk})
				put(t, dir, id(1), conversation(id(1), "hello", "well", "hello", "well")...)
				put(t, dir, id(2), conversation(id(2), "bye", "well", "bye", "well")...)
				disk.Fail(n, syscall.EIO)
				made, err := copySession(dir)
				if err != nil && (!errors.Is(err, syscall.EIO) || errors.Is(err, journal.ErrNotFound)) {
					t.Errorf("operation %d: %v", n, err)
				}
				if sessions := list(t, c); (err == nil) != (len(sessions) == 3) || len(sessions) < 2 {
					t.Errorf("operation %d: %q, %v, and %d sessions are listed\n%s", n, made, err, len(sessions), disk)
				}
				if trashed, err := trash.Of(dir.Journals()).List(); err != nil || len(trashed) > 0 {
					t.Errorf("operation %d: the trash has %v, %v", n, trashed, err)
				}
				if !disk.Failed() || t.Failed() {
					return
				}
			}
		})
	}
}

func TestJournalWithoutHeaderIsRefused(t *testing.T) {
	c, dir := newTeam(t, journal.Options{})
	put(t, dir, id(1), message(1, mia, "hello"), message(2, ada, "well"))
	put(t, dir, id(2), conversation(id(2), "bye", "well")...)
	_, fork := sessioncopy.Fork(ctx, dir, id(1), 0)
	_, mergeA := sessioncopy.Merge(ctx, dir, id(1), id(2))
	_, mergeB := sessioncopy.Merge(ctx, dir, id(2), id(1))
	_, session := sessioncopy.Import(ctx, dir, save(t, "hello", "well"), keepSecrets)
	_, events := importEvents(t, dir, "hello", "well")
	for name, err := range map[string]error{
		"Fork": fork, "Merge as a": mergeA, "Merge as b": mergeB, "Import": session, "ImportEvents": events,
	} {
		var missing *catalog.MissingHeaderError
		if !errors.As(err, &missing) || missing.ID != id(1) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sessions := list(t, c); len(sessions) != 2 {
		t.Errorf("%d sessions are listed", len(sessions))
	}
}

// A power cut during the first batch leaves half a line, which the next writer
// sets aside and records before session.created.
func TestCopySessionThatBeginsWithRecovery(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	write(t, journalOf(dir, id(1)), []byte(`{"seq":1,`))
	if _, err := importEvents(t, dir, "hello", "well"); err != nil {
		t.Fatal(err)
	}
	say(t, dir, id(1), 10, "more")
	fork, err := sessioncopy.Fork(ctx, dir, id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"hello", "well", "more"}, texts(t, dir, fork)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestMergeRecordsSource(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	put(t, dir, id(1), conversation(id(1), "hello", "well")...)
	b := mustFork(t, dir, id(1))
	say(t, dir, b, 10, "second", ">two", ">three")
	merged, err := sessioncopy.Merge(ctx, dir, id(1), b)
	if err != nil || merged.Common != 2 || merged.A != 0 || merged.B != 3 {
		t.Fatalf("%+v, %v", merged, err)
	}
	state, _, err := dir.Load(ctx, merged.ID)
	if err != nil {
		t.Fatal(err)
	}
	if state.Parent == nil || *state.Parent != (projection.Parent{SessionID: id(1), Seq: 3}) {
		t.Errorf("parent %+v", state.Parent)
	}
	if !state.Row.UpdatedAt.Equal(created.Add(12 * time.Minute)) {
		t.Errorf("updated %v", state.Row.UpdatedAt)
	}
}
