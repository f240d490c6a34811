//go:build unix

package journal_test

import (
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
)

// Opening a pipe without a writer blocks.
func TestPipeNamedLikeAJournalIsNotOpened(t *testing.T) {
	dir := newDir(t)
	newJournal(t, dir, 0) // creates the directory
	id := dir.NewID()
	must(t, syscall.Mkfifo(filepath.Join(dir.Path(), id+".jsonl"), 0o600))
	_, stat := dir.Stat(id)
	_, open := dir.Open(t.Context(), id)
	for what, err := range map[string]error{"Stat": stat, "Open": open, "Archive": dir.Archive(t.Context(), id),
		"Trash": dir.Trash(t.Context(), id)} {
		if path, ok := err.(*fs.PathError); !ok || path.Path != filepath.Join(dir.Path(), id+".jsonl") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
