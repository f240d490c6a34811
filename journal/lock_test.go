package journal_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestLockIgnoresARemovedLockFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.lock")
	var holders atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 500 {
				lock, err := vfs.LockFile(vfs.OS, name)
				if err != nil {
					continue // another goroutine has it
				}
				if holders.Add(1) > 1 {
					t.Error("two hold the lock")
				}
				runtime.Gosched()
				holders.Add(-1)
				os.Remove(name) // as Trash does
				lock.Close()
			}
		})
	}
	all.Wait()
}

// removing is a file system on which a file is removed after it was opened.
type removing struct{ vfs.FS }

func (r removing) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := r.FS.OpenFile(name, flag, perm)
	if err == nil {
		err = r.Remove(name)
	}
	return f, err
}

func TestLockFileThatIsAlwaysRemoved(t *testing.T) {
	mem := journaltest.NewMem()
	must(t, mem.Mkdir("/home", 0o700))
	_, err := vfs.LockFile(removing{mem}, "/home/a.lock")
	if err == nil || !strings.Contains(err.Error(), "keeps being removed") {
		t.Errorf("LockFile: %v", err)
	}
}

// deadPID returns the id of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	must(t, cmd.Run())
	return cmd.Process.Pid
}

// named returns the content of a lock file.
func named(t *testing.T, pid int) string {
	t.Helper()
	host, err := os.Hostname()
	must(t, err)
	content, err := json.Marshal(journal.Holder{PID: pid, Host: host, StartedAt: noon})
	must(t, err)
	return string(content)
}

// lateName is a file system on which a lock file names its holder only at the
// second read.
type lateName struct {
	vfs.FS
	reads int
	name  func()
}

func (l *lateName) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	if strings.HasSuffix(name, ".lock") && flag == os.O_RDONLY {
		if l.reads++; l.reads == 2 {
			l.name()
		}
	}
	return l.FS.OpenFile(name, flag, perm)
}

func TestLockedErrorWaitsForTheHoldersName(t *testing.T) {
	for found, content := range map[string]string{
		"nothing":       "",
		"half a name":   `{"pid":`,
		"a dead writer": named(t, deadPID(t)),
	} {
		t.Run(found, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			lock := filepath.Join(dir.Path(), id+".lock")
			held, err := vfs.LockFile(vfs.OS, lock)
			must(t, err)
			defer held.Close()
			writeFile(t, lock, []byte(content))
			late := &lateName{FS: vfs.OS, name: func() { writeFile(t, lock, []byte(named(t, os.Getpid()))) }}

			_, err = journal.NewDir(dir.Path(), journal.Options{FS: late}).Open(t.Context(), id)
			var locked *journal.LockedError
			if !errors.As(err, &locked) || locked.Holder.PID != os.Getpid() {
				t.Errorf("error %v, want process %d", err, os.Getpid())
			}
		})
	}
}

func TestDeadProcessIsNotNamedAsHolder(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	lock := filepath.Join(dir.Path(), id+".lock")
	held, err := vfs.LockFile(vfs.OS, lock)
	must(t, err)
	defer held.Close()
	writeFile(t, lock, []byte(named(t, deadPID(t))))
	_, err = dir.Open(t.Context(), id)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.Holder != (journal.Holder{}) {
		t.Errorf("error %v, want another process", err)
	}
}

// openCounter counts how often each file is opened.
type openCounter struct {
	vfs.FS
	opens map[string]int
}

func (c *openCounter) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	if err == nil {
		c.opens[filepath.Base(name)]++
	}
	return f, err
}

func TestJournalIsOpenedOnce(t *testing.T) {
	disk := &openCounter{FS: noSyncFS{vfs.OS}, opens: map[string]int{}}
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
	id := newJournal(t, dir, 0)
	resume := func() {
		l := mustOpen(t, dir, id)
		_, err := l.Reader(journal.Position{})
		must(t, err)
		mustAppend(t, l, counted(16, 0))
		must(t, l.Sync())
		must(t, l.Close())
	}
	live, archived := id+".jsonl", id+".jsonl.zst"
	once := func(what string, want map[string]int) {
		t.Helper()
		want[id+".lock"] = 1
		if !maps.Equal(disk.opens, want) {
			t.Errorf("%s: %v", what, disk.opens)
		}
		clear(disk.opens)
	}
	once("a new journal", map[string]int{live: 1})
	resume()
	once("a journal", map[string]int{live: 1})
	must(t, dir.Archive(t.Context(), id))
	clear(disk.opens)
	resume()
	unarchived := map[string]int{archived: 1, live + ".tmp": 1}
	if runtime.GOOS == "windows" {
		unarchived[live] = 1 // under its own name, too, once the archive is closed
	}
	once("an archived journal", unarchived)
}
