package find

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestMain(m *testing.M) {
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	mia  = projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
)

func id(n int) string { return fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB0%06d", n) }

// say appends a message to a session, which it creates if necessary.
func say(t *testing.T, d *catalog.Dir, n, minute int) {
	t.Helper()
	at := noon.Add(time.Duration(minute) * time.Minute)
	records := []journal.Record{projection.Record(at, projection.NewMessage(fmt.Sprint(minute), at, mia, "hello", nil))}
	log, err := d.Journals().Open(t.Context(), id(n))
	if err != nil {
		if log, err = d.Journals().Create(id(n)); err != nil {
			t.Fatal(err)
		}
		created := projection.SessionCreated{Format: 1, SessionID: id(n), Team: projection.Team{ID: "shop"}}
		records = append([]journal.Record{projection.Record(at, created)}, records...)
	}
	defer log.Close()
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
}

func TestCompareFindsWhatWasWritten(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	d := c.Team("shop")
	list := func() []*catalog.Entry {
		result, err := c.List(t.Context(), catalog.Query{})
		if err != nil {
			t.Fatal(err)
		}
		return result.Matches
	}
	for n := range 6 {
		say(t, d, n, n)
	}
	before := list()
	f := New(t.Context(), c)
	f.Prepare("hello")
	if f.Compare(nil, before) != nil {
		t.Error("there is nothing to search again before the start")
	}
	f.Start(before)
	expect := func(what string, want ...int) {
		t.Helper()
		after := list()
		var got []string
		for _, e := range f.Compare(before, after)().(ChangedMsg).Entries {
			got = append(got, e.Key().ID)
		}
		var ids []string
		for _, n := range want {
			ids = append(ids, id(n))
		}
		if slices.Sort(got); !slices.Equal(got, ids) {
			t.Errorf("%s: %q, want %q", what, got, ids)
		}
		before = after
	}
	expect("no change")
	say(t, d, 2, 10)
	expect("an old one", 2)
	say(t, d, 2, 11)
	say(t, d, 6, 12)
	if err := d.Delete(t.Context(), id(4)); err != nil {
		t.Fatal(err)
	}
	expect("an old one, a new one, and without a third", 2, 6)
	say(t, d, 0, 13)
	expect("the oldest one", 0)
	f.Stop()
}
