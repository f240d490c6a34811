package journal_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

// interrupted is a file system on which something happens before a directory is
// read.
type interrupted struct {
	journal.FS
	reads  int
	before func(read int)
}

func (i *interrupted) ReadDir(name string) ([]fs.DirEntry, error) {
	i.reads++
	i.before(i.reads)
	return i.FS.ReadDir(name)
}

func TestAJournalThatMovesWhileItIsListedIsInTheList(t *testing.T) {
	for _, archivedFirst := range []bool{false, true} {
		for first := 1; first <= 3; first++ {
			for second := first; second <= 3; second++ {
				t.Run(fmt.Sprintf("archived %v, moved before reads %d and %d", archivedFirst, first, second), func(t *testing.T) {
					dir := newDir(t)
					id := newJournal(t, dir, 0)
					archived := archivedFirst
					move := func() {
						if archived = !archived; archived {
							must(t, dir.Archive(id))
							return
						}
						l := mustOpen(t, dir, id)
						mustAppend(t, l, counted(1, 0))
						must(t, l.Close())
					}
					if archivedFirst {
						must(t, dir.Archive(id))
					}
					looking := journal.NewDir(dir.Path(), journal.Options{FS: &interrupted{FS: journal.OS, before: func(read int) {
						for _, at := range []int{first, second} {
							if read == at {
								move()
							}
						}
					}}})
					infos, err := looking.List()
					if err != nil || len(infos) != 1 || infos[0].ID != id {
						t.Errorf("%+v, %v", infos, err)
					}
				})
			}
		}
	}
}

func TestAJournalThatCannotBeDescribedIsListedWithTheReason(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	infos, err := journal.NewDir(dir.Path(), journal.Options{FS: undescribed{journal.OS}}).List()
	if err != nil || len(infos) != 1 || infos[0].ID != id || !errors.Is(infos[0].Err, syscall.EIO) {
		t.Errorf("%+v, %v", infos, err)
	}
}

// undescribed is a file system that lists files and does not describe them.
type undescribed struct{ journal.FS }

func (u undescribed) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := u.FS.ReadDir(name)
	for i, entry := range entries {
		entries[i] = undescribedEntry{entry}
	}
	return entries, err
}

type undescribedEntry struct{ fs.DirEntry }

func (undescribedEntry) Info() (fs.FileInfo, error) { return nil, syscall.EIO }

func TestALinkToAJournalIsListed(t *testing.T) {
	dir, other := newDir(t), newDir(t)
	id := newJournal(t, other, 0)
	must(t, os.MkdirAll(dir.Path(), 0o700))
	if err := os.Symlink(filepath.Join(other.Path(), id+".jsonl"), filepath.Join(dir.Path(), id+".jsonl")); err != nil {
		t.Skip(err)
	}
	must(t, os.Symlink("nowhere", filepath.Join(dir.Path(), dir.NewID()+".jsonl")))
	infos, err := dir.List()
	if err != nil || len(infos) != 1 || infos[0].ID != id || infos[0].Size == 0 {
		t.Errorf("%+v, %v", infos, err)
	}
}
