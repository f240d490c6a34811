//go:build !windows

package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// secret is the content of a file that no journal may touch.
const secret = "a file of another program\n"

// plant creates a file beside the directory, and a link to it.
func plant(t *testing.T, dir *journal.Dir, name string, link func(target, name string) error) (target string) {
	t.Helper()
	target = filepath.Join(filepath.Dir(dir.Path()), "target")
	must(t, os.WriteFile(target, []byte(secret), 0o600))
	must(t, link(target, filepath.Join(dir.Path(), name)))
	return target
}

// calls are all that lock a journal.
var calls = []struct {
	name string
	do   func(*testing.T, *journal.Dir, string) error
}{
	{"append", func(t *testing.T, dir *journal.Dir, id string) error {
		l := mustOpen(t, dir, id)
		_, err := l.Append(counted(16, 0))
		return errors.Join(err, l.Close())
	}},
	{"repair", func(t *testing.T, dir *journal.Dir, id string) error {
		_, err := dir.Repair(t.Context(), id, nil, false)
		return err
	}},
	{"archive", func(t *testing.T, dir *journal.Dir, id string) error { return dir.Archive(t.Context(), id) }},
	{"trash", func(t *testing.T, dir *journal.Dir, id string) error { return trash.Of(dir).Move(t.Context(), id) }},
}

// A child process that is being started may have the file open for a moment.
func TestClosedLockFileIsUnlockedEvenIfAChildHasItOpen(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")
	lock, err := vfs.LockFile(vfs.OS, name)
	must(t, err)
	child, err := syscall.Dup(int(lock.(interface{ Fd() uintptr }).Fd()))
	must(t, err)
	defer syscall.Close(child)
	must(t, lock.Close())
	lock, err = vfs.LockFile(vfs.OS, name)
	must(t, err)
	must(t, lock.Close())
}

func TestLinkAsLockFileIsRefused(t *testing.T) {
	for _, call := range calls {
		for _, target := range []string{"target", "missing"} {
			t.Run(call.name+" "+target, func(t *testing.T) {
				dir := newDir(t)
				id := newJournal(t, dir, 0)
				must(t, os.Remove(filepath.Join(dir.Path(), id+".lock")))
				file := plant(t, dir, id+".lock", func(to, name string) error {
					return os.Symlink(filepath.Join(filepath.Dir(to), target), name)
				})
				err := call.do(t, dir, id)
				var kind *regularfile.KindError
				if !errors.As(err, &kind) || kind.Mode&fs.ModeSymlink == 0 || !strings.Contains(err.Error(), id+".lock") {
					t.Errorf("error %v", err)
				}
				if string(readFile(t, file)) != secret {
					t.Error("the file was changed")
				}
				if _, err := os.Lstat(filepath.Join(filepath.Dir(dir.Path()), "missing")); err == nil {
					t.Error("a file was created")
				}
			})
		}
	}
}

// A backup made of hard links has the lock file, too: it is locked all the same.
func TestLockFileWithAnotherNameIsNotWritten(t *testing.T) {
	for _, call := range calls {
		t.Run(call.name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			must(t, os.Remove(filepath.Join(dir.Path(), id+".lock")))
			target := plant(t, dir, id+".lock", os.Link)
			must(t, call.do(t, dir, id))
			if string(readFile(t, target)) != secret {
				t.Error("the file was changed")
			}
		})
	}
}

// What a crash left under the name of a temporary file is removed, and never written to.
func TestTemporaryFileReplacesALink(t *testing.T) {
	for what, link := range map[string]func(target, name string) error{"symlink": os.Symlink, "hard link": os.Link} {
		for _, suffix := range []string{".jsonl.tmp", "archive/.jsonl.zst.tmp"} {
			t.Run(what+" "+filepath.Base(suffix), func(t *testing.T) {
				disk := journaltest.New(noSyncFS{vfs.OS})
				dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
				id := newJournal(t, dir, 0)
				must(t, os.Mkdir(filepath.Join(dir.Path(), "archive"), 0o700))
				name := filepath.Join(filepath.Dir(suffix), id+filepath.Base(suffix))
				target := plant(t, dir, name, link)
				if filepath.Dir(name) == "archive" {
					must(t, dir.Archive(t.Context(), id))
				} else {
					l := mustOpen(t, dir, id)
					disk.Fail(1, syscall.EIO, journaltest.Sync)
					l.Append(counted(16, 0))
					mustAppend(t, l, counted(16, 0)) // to a new file
				}
				if string(readFile(t, target)) != secret {
					t.Error("the file was changed")
				}
			})
		}
	}
}

func TestJournalIsLockedUnderEachOfItsNames(t *testing.T) {
	for what, link := range map[string]func(t *testing.T, dir, other *journal.Dir, id string) (alias string){
		"a link to its directory": func(t *testing.T, dir, other *journal.Dir, id string) string {
			must(t, os.Symlink(dir.Path(), other.Path()))
			return id
		},
		"a hard link": func(t *testing.T, dir, other *journal.Dir, id string) string {
			alias := other.NewID()
			must(t, os.Mkdir(other.Path(), 0o700))
			must(t, os.Link(filepath.Join(dir.Path(), id+".jsonl"), filepath.Join(other.Path(), alias+".jsonl")))
			return alias
		},
	} {
		t.Run(what, func(t *testing.T) {
			dir, other := newDir(t), newDir(t)
			id := newJournal(t, dir, 0)
			alias := link(t, dir, other, id)
			l := mustOpen(t, dir, id)
			wantLocked(t, other, alias)
			mustAppend(t, l, counted(16, 0))
			wantLocked(t, other, alias)
			must(t, l.Close())
			second := mustOpen(t, other, alias)
			wantLocked(t, dir, id)
			mustAppend(t, second, counted(17, 0))
			must(t, second.Close())
			if got := len(validEvents(t, dir, id)); got != 17 {
				t.Errorf("%d events", got)
			}
		})
	}
}

// A link could lead to any file, and what takes the place of a journal would take that
// of the link.
func TestJournalThatIsALinkIsOnlyRead(t *testing.T) {
	for what, name := range map[string]string{"live": "%s.jsonl", "archived": "archive/%s.jsonl.zst"} {
		t.Run(what, func(t *testing.T) {
			real, dir := newDir(t), newDir(t)
			id := newJournal(t, real, 0)
			if what == "archived" {
				must(t, real.Archive(t.Context(), id))
			}
			target, link := filepath.Join(real.Path(), fmt.Sprintf(name, id)), filepath.Join(dir.Path(), fmt.Sprintf(name, id))
			before := readFile(t, target)
			must(t, os.MkdirAll(filepath.Dir(link), 0o700))
			must(t, os.Symlink(target, link))
			if got := len(validEvents(t, dir, id)); got != 15 {
				t.Errorf("%d events can be read", got)
			}
			if infos, err := dir.List(t.Context()); err != nil || len(infos) != 1 {
				t.Errorf("List: %v, %v", infos, err)
			}
			_, open := dir.Open(t.Context(), id)
			_, repair := dir.Repair(t.Context(), id, nil, false)
			_, seal := dir.Seal(t.Context(), id)
			for call, err := range map[string]error{"Open": open, "Repair": repair, "Seal": seal,
				"Archive": dir.Archive(t.Context(), id)} {
				var kind *regularfile.KindError
				refused := errors.As(err, &kind) && kind.Mode&fs.ModeSymlink != 0 && strings.Contains(err.Error(), link)
				if !refused && !(call == "Repair" && errors.Is(err, errors.ErrUnsupported)) {
					t.Errorf("%s: %v", call, err)
				}
			}
			must(t, trash.Of(dir).Move(t.Context(), id))
			must(t, trash.Of(dir).Restore(t.Context(), id))
			if got, err := os.Readlink(link); err != nil || got != target || !bytes.Equal(readFile(t, target), before) {
				t.Errorf("the link leads to %q, %v; or the file was changed", got, err)
			}
		})
	}
}

// wantLocked checks that nothing can lock a journal.
func wantLocked(t *testing.T, dir *journal.Dir, id string) {
	t.Helper()
	_, open := dir.Open(t.Context(), id)
	_, repair := dir.Repair(t.Context(), id, nil, false)
	for what, err := range map[string]error{"Open": open, "Repair": repair, "Archive": dir.Archive(t.Context(), id),
		"Trash": trash.Of(dir).Move(t.Context(), id)} {
		var locked *journal.LockedError
		if !errors.As(err, &locked) {
			t.Errorf("%s: %v, want a LockedError", what, err)
		}
	}
}
