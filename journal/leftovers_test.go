package journal_test

import (
	"context"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLeftoversOfKilledWritersAreRemoved(t *testing.T) {
	dir := newDir(t)
	idle, open, archived := newJournal(t, dir, 0), newJournal(t, dir, 0), newJournal(t, dir, 0)
	must(t, dir.Archive(t.Context(), archived))
	gone := dir.NewID()
	for _, name := range []string{
		idle + ".jsonl.tmp", open + ".jsonl.tmp", gone + ".jsonl.tmp", "archive/" + archived + ".jsonl.zst.tmp",
		"notes.tmp", ".jsonl.tmp", idle + ".checkpoint.json.0123abcd.tmp",
	} {
		writeFile(t, filepath.Join(dir.Path(), filepath.FromSlash(name)), []byte("half"))
	}
	mustOpen(t, dir, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	before := filesIn(t, dir.Path())
	dir.RemoveLeftovers(ctx)
	if diff := cmp.Diff(before, filesIn(t, dir.Path())); diff != "" {
		t.Errorf("changed with a cancelled context:\n%s", diff)
	}
	dir.RemoveLeftovers(t.Context())
	left := slices.DeleteFunc(filesIn(t, dir.Path()), func(name string) bool { return filepath.Ext(name) != ".tmp" })
	slices.Sort(left)
	want := []string{".jsonl.tmp", idle + ".checkpoint.json.0123abcd.tmp", open + ".jsonl.tmp", "notes.tmp"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	mustOpen(t, dir, idle) // its lock was released
	if names := filesIn(t, dir.Path()); slices.Contains(names, gone+".lock") {
		t.Error("a lock file was created for a journal that does not exist")
	}
}
