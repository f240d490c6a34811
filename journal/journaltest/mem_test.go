package journaltest_test

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func none() bool { return false }
func all() bool  { return true }

func open(t *testing.T, fsys vfs.FS, name string) vfs.File {
	t.Helper()
	f, err := fsys.OpenFile(name, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func write(t *testing.T, f vfs.File, text string) {
	t.Helper()
	if _, err := f.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// holds fails unless the file has exactly that content; "-" means that there is
// no file.
func holds(t *testing.T, fsys vfs.FS, name, want string) {
	t.Helper()
	got, err := vfs.ReadFile(fsys, name, 1<<30)
	if errors.Is(err, fs.ErrNotExist) {
		got = []byte("-")
	} else if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %.60q (%d bytes), want %.60q (%d bytes)", name, got, len(got), want, len(want))
	}
}

// powerCuts are operations, and what a power cut leaves of them.
var powerCuts = []struct {
	name      string
	steps     func(t *testing.T, m *journaltest.Mem)
	none, all string // what /a holds
}{
	{"nothing synced", func(t *testing.T, m *journaltest.Mem) {
		write(t, open(t, m, "/a"), "one")
	}, "-", "one"},
	{"the file alone", func(t *testing.T, m *journaltest.Mem) {
		f := open(t, m, "/a")
		write(t, f, "one")
		must(t, f.Sync())
	}, "-", "one"},
	{"the directory alone", func(t *testing.T, m *journaltest.Mem) {
		write(t, open(t, m, "/a"), "one")
		must(t, m.SyncDir("/"))
	}, "", "one"},
	{"both", func(t *testing.T, m *journaltest.Mem) {
		f := open(t, m, "/a")
		write(t, f, "one")
		must(t, f.Sync())
		must(t, m.SyncDir("/"))
		write(t, f, "two")
	}, "one", "onetwo"},
	{"cut short", func(t *testing.T, m *journaltest.Mem) {
		f := open(t, m, "/a")
		write(t, f, "one")
		must(t, f.Sync())
		must(t, m.SyncDir("/"))
		must(t, f.Truncate(1))
	}, "one", "o"},
	{"renamed", func(t *testing.T, m *journaltest.Mem) {
		must(t, open(t, m, "/a").Sync())
		must(t, m.SyncDir("/"))
		f := open(t, m, "/b")
		write(t, f, "new")
		must(t, f.Sync())
		must(t, m.Rename("/b", "/a"))
	}, "", "new"},
	{"removed", func(t *testing.T, m *journaltest.Mem) {
		f := open(t, m, "/a")
		write(t, f, "one")
		must(t, f.Sync())
		must(t, m.SyncDir("/"))
		must(t, m.Remove("/a"))
	}, "one", "-"},
	{"a rename between directories of which one is synced", func(t *testing.T, m *journaltest.Mem) {
		must(t, m.Mkdir("/d", 0o700))
		f := open(t, m, "/d/a")
		write(t, f, "one")
		must(t, f.Sync())
		must(t, m.SyncDir("/"))
		must(t, m.SyncDir("/d"))
		must(t, m.Rename("/d/a", "/a"))
		must(t, m.SyncDir("/"))
	}, "-", "one"},
}

func TestPowerCutKeepsSyncedData(t *testing.T) {
	for _, c := range powerCuts {
		t.Run(c.name, func(t *testing.T) {
			m := journaltest.NewMem()
			c.steps(t, m)
			holds(t, m.PowerCut(none), "/a", c.none)
			holds(t, m.PowerCut(all), "/a", c.all)
		})
	}
}

func TestPowerCutLosesUnsyncedPages(t *testing.T) {
	m := journaltest.NewMem()
	f := open(t, m, "/a")
	must(t, m.SyncDir("/"))
	page := strings.Repeat("x", journaltest.PageSize)
	write(t, f, page+page+page)
	rng := rand.New(rand.NewPCG(1, 2))
	sizes, nul := map[int]bool{}, 0
	for range 200 {
		left, err := vfs.ReadFile(m.PowerCut(func() bool { return rng.IntN(2) == 0 }), "/a", 1<<30)
		must(t, err)
		sizes[len(left)] = true
		for page := range bytes.Lines(bytes.ReplaceAll(left, []byte(page), []byte("x\n"))) {
			if bytes.HasPrefix(page, []byte{0}) {
				nul++
			}
		}
	}
	if len(sizes) != 4 || nul == 0 {
		t.Errorf("200 cuts leave files of %d sizes, and %d runs of NUL", len(sizes), nul)
	}
}

func TestFailedSyncDropsPages(t *testing.T) {
	m := journaltest.NewMem()
	disk := journaltest.New(m)
	f := open(t, disk, "/a")
	must(t, m.SyncDir("/"))
	write(t, f, "one")
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	must(t, f.Sync())
	holds(t, m, "/a", "one")
	holds(t, m.PowerCut(all), "/a", "\x00\x00\x00")
	m.DropCaches()
	holds(t, m, "/a", "\x00\x00\x00")
}

func TestRenamedFileIsNeverInBothPlaces(t *testing.T) {
	m := journaltest.NewMem()
	must(t, open(t, m, "/a").Sync())
	must(t, m.SyncDir("/"))
	must(t, m.Rename("/a", "/b"))
	must(t, m.Rename("/b", "/c"))
	rng := rand.New(rand.NewPCG(3, 4))
	seen := map[string]int{}
	for range 100 {
		entries, err := m.PowerCut(func() bool { return rng.IntN(2) == 0 }).ReadDir("/")
		must(t, err)
		if len(entries) != 1 {
			t.Fatalf("the file is at %v", entries)
		}
		seen[entries[0].Name()]++
	}
	if len(seen) != 3 {
		t.Errorf("the file is found at %v", seen)
	}
}

func TestPowerCutReleasesLocks(t *testing.T) {
	m := journaltest.NewMem()
	lock, err := vfs.LockFile(m, "/lock")
	must(t, err)
	if _, err := vfs.LockFile(m, "/lock"); err != journal.ErrLocked {
		t.Errorf("locked twice: %v", err)
	}
	if _, err := vfs.LockFile(m.PowerCut(all), "/lock"); err != nil {
		t.Error(err)
	}
	must(t, lock.Close())
	if _, err := vfs.LockFile(m, "/lock"); err != nil {
		t.Error(err)
	}
}

// systemCalls are calls, most of which fail on the files of prepare.
var systemCalls = []struct {
	name string
	do   func(fsys vfs.FS, dir string) error
}{
	{"open what is not there", func(fsys vfs.FS, dir string) error {
		_, err := fsys.OpenFile(dir+"/none", os.O_RDONLY, 0)
		return err
	}},
	{"create what is there", func(fsys vfs.FS, dir string) error {
		_, err := fsys.OpenFile(dir+"/file", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		return err
	}},
	{"create where there is no directory", func(fsys vfs.FS, dir string) error {
		_, err := fsys.OpenFile(dir+"/none/file", os.O_CREATE|os.O_WRONLY, 0o600)
		return err
	}},
	{"make a directory twice", func(fsys vfs.FS, dir string) error { return fsys.Mkdir(dir+"/sub", 0o700) }},
	{"make a directory in none", func(fsys vfs.FS, dir string) error {
		return fsys.Mkdir(dir+"/none/x", 0o700)
	}},
	{"list what is not there", func(fsys vfs.FS, dir string) error {
		_, err := fsys.ReadDir(dir + "/none")
		return err
	}},
	{"list a file", func(fsys vfs.FS, dir string) error {
		_, err := fsys.ReadDir(dir + "/file")
		return err
	}},
	{"describe what is not there", func(fsys vfs.FS, dir string) error {
		_, err := fsys.Stat(dir + "/none")
		return err
	}},
	{"rename what is not there", func(fsys vfs.FS, dir string) error {
		return fsys.Rename(dir+"/none", dir+"/x")
	}},
	{"rename to itself", func(fsys vfs.FS, dir string) error { return fsys.Rename(dir+"/file", dir+"/file") }},
	{"remove what is not there", func(fsys vfs.FS, dir string) error { return fsys.Remove(dir + "/none") }},
	{"remove a directory with a file",
		func(fsys vfs.FS, dir string) error { return fsys.Remove(dir + "/sub") }},
	{"sync a directory that is not there",
		func(fsys vfs.FS, dir string) error { return fsys.SyncDir(dir + "/none") }},
	{"write to a file that was opened for reading", func(fsys vfs.FS, dir string) error {
		f, err := fsys.OpenFile(dir+"/file", os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.Write([]byte("x"))
		return err
	}},
	{"read a closed file", func(fsys vfs.FS, dir string) error {
		f, err := fsys.OpenFile(dir+"/file", os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		f.Close()
		_, err = f.Read(make([]byte, 1))
		return err
	}},
}

// What the operating system does, the one in memory does, too.
func TestMemFailsAsTheOperatingSystemDoes(t *testing.T) {
	for _, c := range systemCalls {
		t.Run(c.name, func(t *testing.T) {
			real := c.do(vfs.OS, prepare(t, vfs.OS, t.TempDir()))
			mem := c.do(prepared(t), "/d")
			for _, target := range []error{fs.ErrNotExist, fs.ErrExist, fs.ErrClosed, syscall.ENOTDIR,
				syscall.EISDIR, syscall.EBADF} {
				if errors.Is(real, target) != errors.Is(mem, target) {
					t.Errorf("the system says %v, memory %v", real, mem)
				}
			}
			if (real == nil) != (mem == nil) {
				t.Errorf("the system says %v, memory %v", real, mem)
			}
		})
	}
}

func prepared(t *testing.T) *journaltest.Mem {
	m := journaltest.NewMem()
	must(t, m.Mkdir("/d", 0o700))
	prepare(t, m, "/d")
	return m
}

func prepare(t *testing.T, fsys vfs.FS, dir string) string {
	must(t, fsys.Mkdir(dir+"/sub", 0o700))
	for _, name := range []string{"/file", "/sub/file"} {
		f := open(t, fsys, dir+name)
		write(t, f, "text")
		must(t, f.Close())
	}
	return dir
}
