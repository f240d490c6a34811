package catalog_test

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// told are the contents of a session's messages.
func told(t testing.TB, team *catalog.Dir, id string) (texts []string) {
	t.Helper()
	r, err := team.Journals().Reader(id, journal.Position{})
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

// say appends messages, a minute one after another.
func say(t testing.TB, team *catalog.Dir, id string, minutes int, texts ...string) {
	t.Helper()
	for i, text := range texts {
		by := mia
		if text[0] == '>' {
			by = ada
		}
		if err := team.Append(id, said(minutes+i, by, text)); err != nil {
			t.Fatal(err)
		}
	}
}

func mustMerge(t testing.TB, team *catalog.Dir, a, b string) string {
	t.Helper()
	merged, err := team.Merge(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return merged.ID
}

func mustFork(t testing.TB, team *catalog.Dir, id string) string {
	t.Helper()
	fork, err := team.Fork(id, 0)
	if err != nil {
		t.Fatal(err)
	}
	return fork
}

func TestAMergeTakesEachExchangeOnceAndLosesNothingOfIt(t *testing.T) {
	for name, c := range map[string]struct {
		sessions func(t *testing.T, team *catalog.Dir) (a, b string)
		want     []string
	}{
		"two that parted": {func(t *testing.T, team *catalog.Dir) (a, b string) {
			b = mustFork(t, team, id(1))
			say(t, team, id(1), 10, "first", ">one")
			say(t, team, b, 20, "second", ">two")
			say(t, team, id(1), 30, "third", ">three")
			return b, id(1)
		}, []string{"hello", ">hi", "first", ">one", "second", ">two", "third", ">three"}},
		"merged before": {func(t *testing.T, team *catalog.Dir) (a, b string) {
			b = mustFork(t, team, id(1))
			say(t, team, id(1), 10, "first", ">one")
			say(t, team, b, 5, "second", ">two")
			return mustMerge(t, team, id(1), b), id(1)
		}, []string{"hello", ">hi", "second", ">two", "first", ">one"}},
		"merged before in the middle of an exchange": {func(t *testing.T, team *catalog.Dir) (a, b string) {
			b = mustFork(t, team, id(1))
			say(t, team, b, 5, "second", ">two")
			say(t, team, id(1), 10, "first", ">one")
			a = mustMerge(t, team, id(1), b)
			say(t, team, id(1), 12, ">one and a half", "third")
			return a, id(1)
		}, []string{"hello", ">hi", "second", ">two", "first", ">one", ">one and a half", "third"}},
		"parted in the middle of an exchange": {func(t *testing.T, team *catalog.Dir) (a, b string) {
			b = mustFork(t, team, id(1))
			say(t, team, b, 5, "second", ">two")
			say(t, team, id(1), 10, ">late", "first", ">one")
			return id(1), b
		}, []string{"hello", ">hi", ">late", "second", ">two", "first", ">one"}},
		"merged while a clock was wrong": {func(t *testing.T, team *catalog.Dir) (a, b string) {
			b = mustFork(t, team, id(1))
			say(t, team, b, 50, "second", ">two")
			say(t, team, id(1), 60, "first")
			a = mustMerge(t, team, id(1), b)
			say(t, team, id(1), 10, ">one")
			say(t, team, id(1), 11, "third")
			return a, id(1)
		}, []string{"hello", ">hi", "second", ">two", "first", ">one", "third"}},
	} {
		t.Run(name, func(t *testing.T) {
			team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
			put(t, team, id(1), begun(id(1), "kitchen"), said(1, mia, "hello"), said(2, ada, ">hi"))
			a, b := c.sessions(t, team)
			got := told(t, team, mustMerge(t, team, a, b))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCouldNotBeCopiedToItsEndIsNotThere(t *testing.T) {
	for name, copied := range map[string]func(team *catalog.Dir) (string, error){
		"fork": func(team *catalog.Dir) (string, error) { return team.Fork(id(1), 0) },
		"merge": func(team *catalog.Dir) (string, error) {
			merged, err := team.Merge(id(1), id(2))
			return merged.ID, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n := 1; ; n++ {
				disk := journaltest.New(journal.OS)
				c := catalog.New(t.TempDir(), journal.Options{FS: disk})
				team := c.Team("kitchen")
				put(t, team, id(1), chat(id(1), "kitchen", "hello", 4)...)
				put(t, team, id(2), chat(id(2), "kitchen", "bye", 4)...)
				disk.Fail(n, syscall.EIO)
				made, err := copied(team)
				if err != nil && (!errors.Is(err, syscall.EIO) || errors.Is(err, journal.ErrNotFound)) {
					t.Errorf("operation %d: %v", n, err)
				}
				if sessions := list(t, c); (err == nil) != (len(sessions) == 3) || len(sessions) < 2 {
					t.Errorf("operation %d: %q, %v, and listed are %v\n%s", n, made, err, ids(sessions), disk)
				}
				if trashed, err := team.Journals().ListTrash(); err != nil || len(trashed) > 0 {
					t.Errorf("operation %d: in the trash are %v, %v", n, trashed, err)
				}
				if !disk.Failed() || t.Failed() {
					return
				}
			}
		})
	}
}

func TestAJournalThatIsNoSessionIsNeitherCopiedNorAppendedTo(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), said(1, mia, "hello"), said(2, ada, "well"))
	put(t, team, id(2), chat(id(2), "kitchen", "bye", 2)...)
	_, fork := team.Fork(id(1), 0)
	_, first := team.Merge(id(1), id(2))
	_, second := team.Merge(id(2), id(1))
	_, take := team.ImportSession(save(t, "hello", "well"))
	_, events := takeEvents(t, team, "hello", "well")
	for what, err := range map[string]error{"fork": fork, "merge it": first, "merge with it": second, "take": take, "take events": events} {
		var headless *catalog.MissingHeaderError
		if !errors.As(err, &headless) || headless.ID != id(1) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if sessions := list(t, c); len(sessions) != 2 {
		t.Errorf("listed: %v", ids(sessions))
	}
}

func TestTheIndexDoesNotCallAJournalSoundThatIsNoSession(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), said(1, mia, "hello"))
	state := &projection.State{Seq: 1}
	team.UpdateIndex(id(1), state, end)
	if s, err := team.Session(id(1)); err != nil || !s.MissingHeader {
		t.Errorf("%+v, %v", s, err)
	}
}

// A power cut left half a line of the first batch.
func TestASessionThatBeginsWithWhatWasSetAsideIsASession(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	write(t, live(team, id(1)), []byte(`{"seq":1,`))
	if _, err := takeEvents(t, team, "hello", "well"); err != nil {
		t.Fatal(err)
	}
	say(t, team, id(1), 10, "more")
	fork, err := team.Fork(id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"hello", "well", "more"}, told(t, team, fork)); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

func TestAMergeSaysWhereItsEventsComeFrom(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "hello", 2)...)
	b := mustFork(t, team, id(1))
	say(t, team, b, 10, "second", ">two", ">three")
	merged, err := team.Merge(id(1), b)
	if err != nil || merged.Common != 2 || merged.A != 0 || merged.B != 3 {
		t.Fatalf("%+v, %v", merged, err)
	}
	state, _, err := team.Load(merged.ID)
	if err != nil || state.Parent == nil || *state.Parent != (projection.Parent{SessionID: id(1), Seq: 3}) {
		t.Errorf("parent %+v, %v", state.Parent, err)
	}
	if !state.Row.UpdatedAt.Equal(created.Add(12 * time.Minute)) {
		t.Errorf("updated %v", state.Row.UpdatedAt)
	}
}
