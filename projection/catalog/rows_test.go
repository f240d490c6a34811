package catalog_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

func TestEntriesOutliveTheirIndex(t *testing.T) {
	root := t.TempDir()
	ids, err := catalogtest.Sessions{Count: 1500}.Fill(root)
	if err != nil {
		t.Fatal(err)
	}
	c := catalog.New(root, journal.Options{})
	d := c.Team("demo")
	if _, err := d.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := c.List(t.Context(), catalog.Query{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	remove := func(ids []string) {
		for _, id := range ids {
			if err := os.Remove(filepath.Join(d.Journals().Path(), id+".jsonl")); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove(ids[1000:]) // the first rows, so that the others move
	if _, err := d.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	remove(ids[:1000]) // so that they cannot be folded
	for i, e := range list.Matches[:1000] {
		if s := e.Session(); s.ID != ids[i] || s.Title == "" || s.MessageCount != 2 {
			t.Fatalf("session %d is %+v", i, s)
		}
	}
}
