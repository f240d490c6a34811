package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// interrupted is a file system that calls a function before a directory is read,
// and between reading a name and describing its file.
type interrupted struct {
	vfs.FS
	calls int
	at    func(call int)
}

func (i *interrupted) pass() {
	i.calls++
	i.at(i.calls)
}

func (i *interrupted) StatFiles(
	ctx context.Context, dir string, match func(string) bool,
) ([]vfs.FileStat, error) {
	i.pass()
	return i.FS.StatFiles(ctx, dir, func(name string) bool {
		ok := match(name)
		if ok {
			i.pass()
		}
		return ok
	})
}

func TestListIncludesAJournalBeingMoved(t *testing.T) {
	for _, archivedFirst := range []bool{false, true} {
		for first := 1; first <= 5; first++ {
			for second := first; second <= 5; second++ {
				t.Run(fmt.Sprintf("archived %v, moved at %d and %d", archivedFirst, first, second), func(t *testing.T) {
					dir := newDir(t)
					id := newJournal(t, dir, 0)
					archived := archivedFirst
					move := func() {
						if archived = !archived; archived {
							must(t, dir.Archive(t.Context(), id))
							return
						}
						l := mustOpen(t, dir, id)
						mustAppend(t, l, counted(1, 0))
						must(t, l.Close())
					}
					if archivedFirst {
						must(t, dir.Archive(t.Context(), id))
					}
					interruptedDir := journal.NewDir(dir.Path(),
						journal.Options{FS: &interrupted{FS: vfs.OS, at: func(call int) {
							for _, at := range []int{first, second} {
								if call == at {
									move()
								}
							}
						}}})
					infos, err := interruptedDir.List(t.Context())
					if err != nil || len(infos) != 1 || infos[0].ID != id {
						t.Errorf("%+v, %v", infos, err)
					}
				})
			}
		}
	}
}

func TestListWithoutLockFiles(t *testing.T) {
	dir := newDir(t)
	moving, unlocked := newJournal(t, dir, 0), newJournal(t, dir, 0)
	must(t, os.Remove(filepath.Join(dir.Path(), unlocked+".lock")))
	interruptedDir := journal.NewDir(dir.Path(), journal.Options{FS: &interrupted{FS: vfs.OS, at: func(call int) {
		if call == 2 { // between the two directories
			must(t, dir.Archive(t.Context(), moving))
		}
	}}})
	if infos, err := interruptedDir.List(t.Context()); err != nil || len(infos) != 2 {
		t.Errorf("%+v, %v", infos, err)
	}

	must(t, os.Remove(filepath.Join(dir.Path(), moving+".lock"))) // so only the archive is left
	must(t, os.Remove(filepath.Join(dir.Path(), unlocked+".jsonl")))
	if infos, err := dir.List(t.Context()); err != nil || len(infos) != 1 || infos[0].ID != moving {
		t.Errorf("%+v, %v", infos, err)
	}
}

func TestListIncludesUnreadableJournals(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	infos, err := journal.NewDir(dir.Path(), journal.Options{FS: undescribed{vfs.OS}}).List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].ID != id || !errors.Is(infos[0].Err, syscall.EIO) {
		t.Errorf("%+v, %v", infos, err)
	}
}

// undescribed is a file system that lists files and fails to describe them.
type undescribed struct{ vfs.FS }

func (u undescribed) StatFiles(
	ctx context.Context, dir string, match func(string) bool,
) ([]vfs.FileStat, error) {
	files, err := u.FS.StatFiles(ctx, dir, match)
	for i, file := range files {
		files[i] = vfs.FileStat{Name: file.Name, Err: syscall.EIO}
	}
	return files, err
}

func TestListIncludesSymbolicLinks(t *testing.T) {
	dir, other := newDir(t), newDir(t)
	id := newJournal(t, other, 0)
	must(t, os.MkdirAll(dir.Path(), 0o700))
	programtest.SkipOnWindows(t, os.Symlink(filepath.Join(other.Path(), id+".jsonl"), filepath.Join(dir.Path(), id+".jsonl")))
	must(t, os.Symlink("nowhere", filepath.Join(dir.Path(), dir.NewID()+".jsonl")))
	infos, err := dir.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].ID != id || infos[0].Size == 0 {
		t.Errorf("%+v, %v", infos, err)
	}
}
