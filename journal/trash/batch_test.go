package trash_test

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestTrashBatchReadsEachDirectoryOnce(t *testing.T) {
	reads := map[string]int{}
	dir := newDir(t)
	counting := journal.NewDir(dir.Path(), journal.Options{FS: &readsOf{vfs.OS, reads}})
	var ids []string
	for range 5 {
		id := newJournal(t, dir, 0)
		for n := range 2 {
			writeFile(t, filepath.Join(dir.Path(), fmt.Sprintf("%s.aside-%d", id, n+1)), []byte("half"))
		}
		ids = append(ids, id)
	}
	bin := trash.Of(counting)
	for _, id := range ids {
		must(t, bin.Move(t.Context(), id))
	}
	for _, id := range ids {
		for _, name := range []string{id + ".jsonl", id + ".aside-1", id + ".aside-2", id + ".trashed"} {
			if !slices.Contains(filesIn(t, dir.Path()), "trash/"+name) {
				t.Errorf("%s is not in the trash", name)
			}
		}
	}
	emptying := trash.Of(counting)
	for _, id := range ids {
		must(t, emptying.Purge(id))
	}
	if left := filesIn(t, dir.Path()); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	for path, n := range reads {
		if n > 2 { // once for each batch
			t.Errorf("%s was read %d times", path, n)
		}
	}
}

func TestTrashBatchKeepsRestoredJournals(t *testing.T) {
	dir := newDir(t)
	first, second := newJournal(t, dir, 0), newJournal(t, dir, 0)
	must(t, errors.Join(trash.Of(dir).Move(t.Context(), first), trash.Of(dir).Move(t.Context(), second)))
	bin := trash.Of(dir)
	must(t, bin.Purge(first))
	must(t, trash.Of(dir).Restore(t.Context(), second))
	must(t, bin.Purge(second))
	validEvents(t, dir, second)
}

type readsOf struct {
	vfs.FS
	reads map[string]int
}

func (r *readsOf) ReadDir(name string) ([]fs.DirEntry, error) {
	r.reads[name]++
	return r.FS.ReadDir(name)
}
