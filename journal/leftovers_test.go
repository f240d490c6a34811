package journal_test

import (
	"path/filepath"
	"slices"
	"testing"
)

func TestLeftoversOfKilledWritersAreRemoved(t *testing.T) {
	dir := newDir(t)
	idle, open, archived := newJournal(t, dir, 0), newJournal(t, dir, 0), newJournal(t, dir, 0)
	must(t, dir.Archive(t.Context(), archived))
	gone := dir.NewID()
	for _, name := range []string{
		idle + ".jsonl.tmp", open + ".jsonl.tmp", gone + ".jsonl.tmp", "archive/" + archived + ".jsonl.zst.tmp",
		"notes.tmp", idle + ".checkpoint.json.0123abcd.tmp",
	} {
		writeFile(t, filepath.Join(dir.Path(), filepath.FromSlash(name)), []byte("half"))
	}
	mustOpen(t, dir, open)
	dir.RemoveLeftovers(t.Context())
	left := slices.DeleteFunc(filesIn(t, dir.Path()), func(name string) bool { return filepath.Ext(name) != ".tmp" })
	slices.Sort(left)
	want := []string{idle + ".checkpoint.json.0123abcd.tmp", open + ".jsonl.tmp", "notes.tmp"}
	slices.Sort(want)
	if !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
	mustOpen(t, dir, idle) // its lock was released
	if names := filesIn(t, dir.Path()); slices.Contains(names, gone+".lock") {
		t.Error("a lock file was created for a journal that does not exist")
	}
}
