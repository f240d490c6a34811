//go:build unix

package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/trash"
)

// Opening a pipe without a writer blocks.
func TestPipesAreNotOpened(t *testing.T) {
	for name, pathIn := range map[string]func(dir *journal.Dir, id string) string{
		"journal": func(dir *journal.Dir, id string) string { return filepath.Join(dir.Path(), id+".jsonl") },
		"archive": archivePath,
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			newJournal(t, dir, 0) // creates the directory
			id := dir.NewID()
			path := pathIn(dir, id)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, syscall.Mkfifo(path, 0o600))
			read, readErr := dir.Reader(id, journal.Position{})
			if readErr == nil {
				must(t, read.Close())
			}
			for what, err := range map[string]error{
				"Stat": second(dir.Stat(id)), "Open": second(dir.Open(t.Context(), id)), "Reader": readErr,
				"Check": dir.Check(id), "Archive": dir.Archive(t.Context(), id), "Trash": trash.Of(dir).Move(t.Context(), id),
				"Repair": second(dir.Repair(t.Context(), id, nil, false)), "Seal": second(dir.Seal(t.Context(), id)),
				"Follow": followed(dir, id),
			} {
				if !errors.As(err, new(*regularfile.KindError)) || !strings.Contains(err.Error(), path) {
					t.Errorf("%s: %v, want an error that names %s", what, err, path)
				}
			}
		})
	}
}

func TestPipesAsNotesAreNotOpened(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	must(t, trash.Of(dir).Move(t.Context(), id))
	date := filepath.Join(dir.Path(), "trash", id+".trashed")
	must(t, os.Remove(date))
	must(t, syscall.Mkfifo(date, 0o600))
	must(t, syscall.Mkfifo(filepath.Join(dir.Path(), "trash", dir.NewID()+".jsonl"), 0o600))
	if all, err := trash.Of(dir).List(); err != nil || len(all) != 1 || !all[0].Since.IsZero() {
		t.Errorf("the trash has %+v, %v", all, err)
	}
	must(t, trash.Of(dir).Restore(t.Context(), id))
	lock := filepath.Join(dir.Path(), id+".lock")
	must(t, os.RemoveAll(lock))
	must(t, syscall.Mkfifo(lock, 0o600))
	if writer := dir.Writer(id); writer != (journal.Holder{}) {
		t.Errorf("the writer is %+v", writer)
	}
	if _, err := mustOpen(t, dir, id).Append(counted(16, 0)); !errors.As(err, new(*regularfile.KindError)) {
		t.Errorf("Append: %v", err)
	}
}
