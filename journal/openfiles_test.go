package journal_test

import (
	"io/fs"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// countedOpen counts the files that are open.
type countedOpen struct {
	vfs.FS
	open atomic.Int64
}

func (c *countedOpen) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &trackedFile{File: f, of: c}, nil
}

type trackedFile struct {
	vfs.File
	of     *countedOpen
	closed bool
}

func (f *trackedFile) Close() error {
	if !f.closed {
		f.closed = true
		f.of.open.Add(-1)
	}
	return f.File.Close()
}

// drain reads with a Reader, if there is one, and closes it.
func drain(r *journal.Reader, err error) {
	if err != nil {
		return
	}
	for range r.All() {
	}
	r.Close()
}

// usesOfFiles are calls that open files.
var usesOfFiles = map[string]func(t *testing.T, dir *journal.Dir, id string){
	"read":  func(_ *testing.T, dir *journal.Dir, id string) { drain(dir.Reader(id, journal.Position{})) },
	"check": func(_ *testing.T, dir *journal.Dir, id string) { _ = dir.Check(id) },
	"check the file": func(t *testing.T, dir *journal.Dir, id string) {
		if r, err := dir.Reader(id, journal.Position{}); err == nil {
			_ = r.CheckFile(t.Context())
			r.Close()
		}
	},
	"append, read": func(t *testing.T, dir *journal.Dir, id string) {
		l, err := dir.Open(t.Context(), id)
		if err != nil {
			return
		}
		defer l.Close()
		drain(l.Reader(journal.Position{}))
		if _, err := l.Append(counted(16, 0)); err != nil {
			drain(l.Reader(journal.Position{}))
			_, _ = l.Recover(t.Context())
		}
		drain(l.Reader(journal.Position{}))
	},
	"create": func(_ *testing.T, dir *journal.Dir, _ string) {
		if l, err := dir.Create(dir.NewID()); err == nil {
			_, _ = l.Append(counted(1, 0))
			_ = l.Discard()
			l.Close()
		}
	},
	"archive": func(t *testing.T, dir *journal.Dir, id string) { _ = dir.Archive(t.Context(), id) },
	"seal":    func(t *testing.T, dir *journal.Dir, id string) { _, _ = dir.Seal(t.Context(), id) },
	"repair": func(t *testing.T, dir *journal.Dir, id string) {
		_, _ = dir.Repair(t.Context(), id, func(journal.Event) error { return fs.ErrInvalid }, false)
	},
	"trash, restore, purge": func(t *testing.T, dir *journal.Dir, id string) {
		if trash.Of(dir).Move(t.Context(), id) != nil {
			return
		}
		drain(trash.Of(dir).Reader(id))
		if trash.Of(dir).Restore(t.Context(), id) == nil && trash.Of(dir).Move(t.Context(), id) == nil {
			_ = trash.Of(dir).Purge(id)
		}
	},
}

// everyKind are the kinds of operations.
var everyKind = []journaltest.Kind{
	journaltest.Open, journaltest.Mkdir, journaltest.Write, journaltest.Sync, journaltest.Truncate,
	journaltest.Rename, journaltest.Remove, journaltest.SyncDir, journaltest.Lock, journaltest.Read,
}

// TestEveryFailureClosesTheFiles fails the first operation, then the second, and so on.
func TestEveryFailureClosesTheFiles(t *testing.T) {
	racetest.SkipSequential(t)
	always := [][]journaltest.Kind{nil, {journaltest.Lock}, {journaltest.Sync}, {journaltest.Write}}
	if !sizetest.Full() {
		always = always[:1]
	}
	for _, broken := range always {
		for name, use := range usesOfFiles {
			for _, archived := range []bool{false, true} {
				for n, failed := 1, true; failed; n++ {
					var left int64
					if failed, left = useWithFailure(t, use, archived, broken, n); left != 0 {
						t.Errorf("%s, archived: %t, always fails: %v: after the failure of operation %d, %d files are open",
							name, archived, broken, n, left)
					}
				}
			}
		}
	}
}

// useWithFailure uses a journal while all operations of the broken kinds fail, and the nth one. It reports whether
// there were that many operations, and how many files are left open.
func useWithFailure(
	t *testing.T, use func(*testing.T, *journal.Dir, string), archived bool, broken []journaltest.Kind, n int,
) (failed bool, left int64) {
	t.Helper()
	always := journaltest.New(journaltest.NewMem())
	disk := journaltest.New(always)
	counter := &countedOpen{FS: disk}
	dir := journal.NewDir("/journals", journal.Options{FS: counter, Now: atNoon}).WithFrames(2000)
	id := newJournal(t, dir, 200)
	if archived {
		must(t, dir.Archive(t.Context(), id))
	}
	if broken != nil {
		always.FailFrom(1, syscall.EIO, broken...)
	}
	disk.Fail(n, syscall.EIO, everyKind...)
	use(t, dir, id)
	return disk.Failed(), counter.open.Load()
}
