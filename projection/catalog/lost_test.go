package catalog_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

func TestEmptiedSessionIsListed(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
	before := list(t, c)
	if err := os.Truncate(before[0].Path(), 0); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time from the index
		after := list(t, c)
		if len(after) != 1 || after[0].Damaged == "" || after[0].Title != "Repair" || !after[0].Truncated {
			t.Fatalf("the list is %+v", after)
		}
	}
}

func TestReplacedJournalIsFoldedFromStart(t *testing.T) {
	for _, test := range []struct {
		name string
		with []journal.Record
	}{
		{"by a longer one", chat(id(1), "kitchen", "Replaced", 9)},
		{"by a shorter one", chat(id(1), "kitchen", "Replaced", 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			c := catalog.New(root, journal.Options{})
			team := c.Team("kitchen")
			put(t, team, id(1), chat(id(1), "kitchen", "Repair", 3)...)
			keep(t, team, id(1))
			list(t, c)
			put(t, team, id(1), test.with...)
			cached := ask(t, c)
			if short := len(test.with) < 4; cached.Sessions[0].Truncated != short {
				t.Errorf("Truncated is %v", cached.Sessions[0].Truncated)
			}
			cached.Sessions[0].Truncated = false // only the index knows that
			dropCaches(t, root)
			sameAnswers(t, ask(t, c), cached)
			if got := cached.Sessions[0].Title; got != "Replaced" {
				t.Errorf("the title is %q", got)
			}
		})
	}
}

func TestShorterJournalIsTruncated(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	records := chat(id(1), "kitchen", "Repair", 5)
	put(t, team, id(1), records...)
	if got := list(t, c)[0]; got.Truncated {
		t.Error("a complete journal is truncated")
	}
	put(t, team, id(1), records[:4]...)
	if got, err := team.Session(ctx, id(1)); err != nil || !got.Truncated || got.LastSeq != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	if got := list(t, c)[0]; !got.Truncated || got.MessageCount != 3 {
		t.Errorf("%+v", got)
	}
}

func TestListReportsLostJournals(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	team := c.Team("kitchen")
	list(t, c)
	path := live(team, id(1))
	content := read(t, path)
	remove := func() {
		t.Helper()
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, sessions int, lost ...string) {
		t.Helper()
		for _, l := range []lister{team, c, team} { // the notice is repeated
			r := query(t, l, catalog.Query{Team: "kitchen"})
			if len(r.Sessions) != sessions || !slices.Equal(r.Lost, lost) {
				t.Errorf("%s: %d sessions, lost %q, want %d, %q", what, len(r.Sessions), r.Lost, sessions, lost)
			}
		}
	}
	check("all there", 3)
	remove()
	check("removed", 2, path)
	put(t, team, id(7), chat(id(7), "kitchen", "Another", 1)...)
	check("after another session", 3, path)
	write(t, path, content)
	check("restored", 4)
	if err := team.Delete(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	check("in the trash", 3)
	if err := team.Restore(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	list(t, c)
	remove()
	check("removed again", 3, path)
	if _, err := team.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	check("rebuilt", 3)
	if index := read(t, indexOf(team)); strings.Contains(string(index), id(1)) {
		t.Errorf("%s", index)
	}
}

func TestPurgedSessionIsNotLost(t *testing.T) {
	c := mixed(t, t.TempDir(), nil)
	team := c.Team("kitchen")
	list(t, c)
	before := read(t, indexOf(team))
	if err := team.Delete(t.Context(), id(1)); err != nil {
		t.Fatal(err)
	}
	trashed, err := trash.Of(team.Journals()).List()
	if err != nil || len(trashed) != 1 {
		t.Fatalf("%v, %v", trashed, err)
	}
	pass := team.BeginRetention()
	if err := pass.Purge(t.Context(), trashed, "old", func(trash.Item) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if err := pass.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, indexOf(team), before) // as the index of a large team is not rewritten
	if r := query(t, team, catalog.Query{}); len(r.Lost) > 0 || len(r.Sessions) != 2 {
		t.Errorf("%d sessions, lost %q", len(r.Sessions), r.Lost)
	}
}

func TestLostJournalOfEmptyDirectoryIsReported(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Alone", 1)...)
	list(t, team)
	if err := os.Remove(live(team, id(1))); err != nil {
		t.Fatal(err)
	}
	if r := query(t, team, catalog.Query{}); !slices.Equal(r.Lost, []string{live(team, id(1))}) {
		t.Errorf("lost %q", r.Lost)
	}
	if _, err := team.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := query(t, team, catalog.Query{}); len(r.Lost) > 0 {
		t.Errorf("after a rebuild, lost %q", r.Lost)
	}
}
