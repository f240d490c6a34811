//go:build !windows

package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
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
	{"trash", func(t *testing.T, dir *journal.Dir, id string) error { return dir.Trash(t.Context(), id) }},
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
				disk := journaltest.New(noSyncFS{journal.OS})
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
			must(t, dir.Trash(t.Context(), id))
			must(t, dir.Restore(t.Context(), id))
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
		"Trash": dir.Trash(t.Context(), id)} {
		var locked *journal.LockedError
		if !errors.As(err, &locked) {
			t.Errorf("%s: %v, want a LockedError", what, err)
		}
	}
}

func TestJournalWithoutItsLockFileIsLocked(t *testing.T) {
	disk := journaltest.New(noSyncFS{journal.OS})
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
	for what, open := range map[string]func(t *testing.T) *journal.Log{
		"opened":  func(t *testing.T) *journal.Log { return mustOpen(t, dir, newJournal(t, dir, 0)) },
		"created": func(t *testing.T) *journal.Log { return mustCreate(t, dir) },
		"archived": func(t *testing.T) *journal.Log {
			id := newJournal(t, dir, 0)
			must(t, dir.Archive(t.Context(), id))
			return mustOpen(t, dir, id)
		},
		"after a failed sync": func(t *testing.T) *journal.Log {
			l := mustCreate(t, dir)
			mustAppend(t, l, counted(1, 0))
			disk.Fail(1, syscall.EIO, journaltest.Sync)
			if err := l.Sync(); err == nil {
				t.Fatal("synced")
			}
			_, err := l.Recover(t.Context())
			must(t, err)
			return l
		},
		"after a failed write": func(t *testing.T) *journal.Log {
			l := mustCreate(t, dir)
			mustAppend(t, l, counted(1, 0))
			disk.Fail(1, syscall.EIO, journaltest.Write)
			if _, err := l.Append(counted(2, 0)); err == nil {
				t.Fatal("appended")
			}
			_, err := l.Recover(t.Context())
			must(t, err)
			return l
		},
		"after a failed first sync": func(t *testing.T) *journal.Log {
			l := mustOpen(t, dir, newJournal(t, dir, 0))
			disk.Fail(1, syscall.EIO, journaltest.Sync)
			if _, err := l.Append(counted(16, 0)); err == nil {
				t.Fatal("appended")
			}
			return l
		},
	} {
		t.Run(what, func(t *testing.T) {
			l := open(t)
			for n := range 2 {
				if n > 0 || what == "created" {
					mustAppend(t, l, counted(17, 0))
				}
				os.Remove(filepath.Join(dir.Path(), l.ID()+".lock"))
				_, err := dir.Open(t.Context(), l.ID())
				if !errors.Is(err, journal.ErrLocked) {
					t.Errorf("opened twice: %v", err)
				}
			}
			must(t, l.Close())
			mustOpen(t, dir, l.ID())
		})
	}
}

func TestSyncDetectsAStrangersBytes(t *testing.T) {
	for _, tt := range []struct {
		name, bytes string
		err         string // of Recover
	}{
		{"half a line", "half", ""},
		{"a line", "", "another program has written to it"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := newDir(t)
			l := mustCreate(t, dir)
			mustAppend(t, l, counted(1, 0))
			must(t, l.Sync())
			before := mustAppend(t, l, counted(2, 0))[0]
			bytes := tt.bytes
			if bytes == "" {
				line := journal.EncodeLine(journal.Event{Seq: 3, Time: noon, Type: "wolf.counted", Data: []byte("{}")}, before.Sum)
				bytes = string(line) + "\n"
			}
			appendFile(t, l.Path(), []byte(bytes))
			if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
				t.Fatalf("Sync: %v", err)
			}
			events, err := l.Recover(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("Recover: %v", err)
				}
				return
			}
			must(t, err)
			checkAside(t, dir, events, bytes)
			mustAppend(t, l, counted(3, 0))
			must(t, l.Sync())
			if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2, 3}) {
				t.Errorf("the journal has %v", got)
			}
		})
	}
}

func TestFirstAppendDetectsAStrangersBytes(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	l := mustOpen(t, dir, id)
	appendFile(t, l.Path(), []byte("{"))
	if _, err := l.Append(counted(16, 0)); err == nil || errors.Is(err, journal.ErrPoisoned) {
		t.Errorf("Append: %v", err)
	}
}

func TestReplacedJournalKeepsItsMode(t *testing.T) {
	disk := journaltest.New(noSyncFS{journal.OS})
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
	id := newJournal(t, dir, 0)
	l := mustOpen(t, dir, id)
	must(t, os.Chmod(l.Path(), 0o666))
	mode := func(when, path string) {
		t.Helper()
		if got := stat(t, path).Mode().Perm(); got != 0o666 {
			t.Errorf("%s it has mode %o", when, got)
		}
	}
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	l.Append(counted(16, 0))
	mustAppend(t, l, counted(16, 0))
	mode("after a failed first sync", l.Path())
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	l.Sync()
	_, err := l.Recover(t.Context())
	must(t, err)
	mode("after a failed sync", l.Path())
	must(t, l.Close())
	must(t, dir.Archive(t.Context(), id))
	mode("archived", filepath.Join(dir.Path(), "archive", id+".jsonl.zst"))
	l = mustOpen(t, dir, id)
	mustAppend(t, l, counted(19, 0))
	must(t, l.Close())
	mode("unarchived", l.Path())
	data := readFile(t, l.Path())
	data[30] ^= 1
	must(t, os.WriteFile(l.Path(), data, 0))
	_, err = dir.Repair(t.Context(), id, nil, false)
	must(t, err)
	mode("repaired", l.Path())
}

// user is another user in a group, who runs a copy of this test program.
type user struct {
	program    string
	uid, group uint32
}

func (u user) run(t *testing.T, dir, call, id string) (string, error) {
	t.Helper()
	cmd := exec.Command(u.program, "-test.run=^TestCallOfAnotherUser$")
	cmd.Env = append(os.Environ(), "JOURNAL_CALL="+call, "JOURNAL_DIR="+dir, "JOURNAL_ID="+id)
	credential := &syscall.Credential{Uid: u.uid, Gid: u.uid, Groups: []uint32{u.group}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	cmd.Dir = "/"
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestCallOfAnotherUser makes one call of TestUsersOfAGroupTakeTurns in a child process.
func TestCallOfAnotherUser(t *testing.T) {
	if os.Getenv("JOURNAL_CALL") == "" {
		t.Skip("it is run by TestUsersOfAGroupTakeTurns")
	}
	syscall.Umask(0o022)
	dir := journal.NewDir(os.Getenv("JOURNAL_DIR"), journal.Options{})
	id := os.Getenv("JOURNAL_ID")
	switch os.Getenv("JOURNAL_CALL") {
	case "create":
		l, err := dir.Create(id)
		must(t, err)
		mustAppend(t, l, counted(1, 0))
		must(t, l.Close())
	case "append":
		l := mustOpen(t, dir, id)
		mustAppend(t, l, counted(2, 0))
		must(t, l.Close())
	case "archive":
		must(t, dir.Archive(t.Context(), id))
	case "trash":
		must(t, dir.Trash(t.Context(), id))
	case "restore":
		must(t, dir.Restore(t.Context(), id))
	}
}

func TestUsersOfAGroupTakeTurns(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run processes of other users")
	}
	// A directory that every user reaches, unlike that of the test.
	home, err := os.MkdirTemp("", "shared-")
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	must(t, os.Chmod(home, 0o755))
	shared := filepath.Join(home, "shared")
	const group = 60_001
	program := filepath.Join(home, "journal.test")
	must(t, os.WriteFile(program, readFile(t, os.Args[0]), 0o755))
	first, second := user{program, 60_002, group}, user{program, 60_003, group}
	must(t, os.Mkdir(shared, 0o700))
	must(t, os.Chown(shared, 0, group))
	must(t, os.Chmod(shared, 0o770|fs.ModeSetgid))
	dir := journal.NewDir(shared, journal.Options{})
	id := dir.NewID()
	for _, turn := range []struct {
		user user
		call string
	}{
		{first, "create"}, {second, "append"}, {first, "append"}, {second, "archive"}, {first, "append"},
		{first, "trash"}, {second, "restore"}, {first, "append"},
	} {
		if out, err := turn.user.run(t, shared, turn.call, id); err != nil {
			t.Fatalf("%s by %d: %v\n%s", turn.call, turn.user.uid, err, out)
		}
	}
	must(t, filepath.WalkDir(shared, func(path string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		want := map[bool]fs.FileMode{true: fs.ModeDir | fs.ModeSetgid | 0o770, false: 0o660}[d.IsDir()]
		if gid := info.Sys().(*syscall.Stat_t).Gid; info.Mode() != want || gid != group {
			t.Errorf("%s has mode %v and group %d, want %v", path, info.Mode(), gid, want)
		}
		return nil
	}))
	held := mustOpen(t, dir, id)
	out, err := second.run(t, shared, "append", id)
	if err == nil || !strings.Contains(out, "is locked by process ") {
		t.Errorf("while it is locked: %v\n%s", err, out)
	}
	must(t, held.Close())

	private := filepath.Join(home, "private")
	must(t, os.Mkdir(private, 0o700))
	must(t, os.Chmod(private, 0o777)) // without a group
	if out, err := first.run(t, private, "create", id); err != nil {
		t.Fatal(err, out)
	}
	if out, err := second.run(t, private, "append", id); err == nil || !strings.Contains(out, "permission denied") {
		t.Errorf("in a directory without a group: %v\n%s", err, out)
	}
}

// A disk that is unmounted while files are open is another directory of that name.
func TestUnmountedJournalIsNotRecreatedInItsMountPoint(t *testing.T) {
	for what, within := range map[string]string{"its directory": "", "a directory above it": "a/b"} {
		t.Run(what, func(t *testing.T) {
			mount := filepath.Join(t.TempDir(), "mount")
			dir := journal.NewDir(filepath.Join(mount, within), journal.Options{FS: noSyncFS{journal.OS}})
			l := mustCreate(t, dir)
			mustAppend(t, l, counted(1, 0))
			must(t, l.Sync())
			must(t, os.Rename(mount, mount+".unmounted"))
			must(t, os.Mkdir(mount, 0o700))
			mustAppend(t, l, counted(2, 0))
			if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
				t.Fatalf("Sync: %v", err)
			}
			for range 2 {
				_, err := l.Recover(t.Context())
				if err == nil || !strings.Contains(err.Error(), "another directory has its name") {
					t.Errorf("Recover: %v", err)
				}
			}
			if names := filesIn(t, mount); len(names) > 0 {
				t.Errorf("%q were created", names)
			}
			must(t, os.Remove(mount))
			must(t, os.Rename(mount+".unmounted", mount))
			_, err := l.Recover(t.Context())
			must(t, err)
			mustAppend(t, l, counted(3, 0))
			must(t, l.Sync())
			if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2, 3}) {
				t.Errorf("the journal has %v", got)
			}
		})
	}
}

// A disk that is mounted again may have another writer by then.
func TestRemountedJournalWithAWriterIsRefused(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Sync())
	must(t, os.CopyFS(dir.Path()+".copy", os.DirFS(dir.Path())))
	must(t, os.Rename(dir.Path(), dir.Path()+".old"))
	must(t, os.Rename(dir.Path()+".copy", dir.Path()))
	mustAppend(t, l, counted(2, 0))
	if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		t.Fatalf("Sync: %v", err)
	}
	second := mustOpen(t, dir, l.ID())
	for range 2 {
		if _, err := l.Recover(t.Context()); !errors.Is(err, journal.ErrLocked) {
			t.Fatalf("Recover: %v", err)
		}
	}
	must(t, second.Close())
	_, err := l.Recover(t.Context())
	must(t, err)
	wantLocked(t, dir, l.ID())
	if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the journal has %v", got)
	}
}

// A Recover that could not lock another directory of that name has released the lock file.
func TestJournalIsLockedAgainWhenItsDiskIsBack(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Sync())
	mustAppend(t, l, counted(2, 0))
	other := journal.NewDir(dir.Path()+".other", journal.Options{FS: noSyncFS{journal.OS}})
	must(t, os.CopyFS(other.Path(), os.DirFS(dir.Path())))
	exchange := func() {
		must(t, os.Rename(dir.Path(), dir.Path()+".aside"))
		must(t, os.Rename(other.Path(), dir.Path()))
		must(t, os.Rename(dir.Path()+".aside", other.Path()))
	}
	held := mustOpen(t, other, l.ID())
	exchange()
	if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		t.Fatalf("Sync: %v", err)
	}
	if _, err := l.Recover(t.Context()); !errors.Is(err, journal.ErrLocked) {
		t.Fatalf("Recover: %v", err)
	}
	exchange()
	_, err := l.Recover(t.Context())
	must(t, err)
	wantLocked(t, dir, l.ID())
	if name := dir.Writer(l.ID()); name.PID != os.Getpid() {
		t.Errorf("the lock file names %v", name)
	}
	must(t, held.Close())
	must(t, l.Close())
	if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the journal has %v", got)
	}
}

func TestHolderOnAnotherHostIsReported(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	lock := filepath.Join(dir.Path(), id+".lock")
	held, err := journal.LockFile(journal.OS, lock)
	must(t, err)
	defer held.Close()
	// On this host, no such process runs.
	want := journal.Holder{PID: deadPID(t), Host: "mill.example", StartedAt: noon}
	content, err := json.Marshal(want)
	must(t, err)
	writeFile(t, lock, content)
	_, err = dir.Open(t.Context(), id)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.Holder != want || !strings.Contains(err.Error(), "on mill.example") {
		t.Errorf("error %v", err)
	}
	if got := dir.Writer(id); got != want {
		t.Errorf("the writer is %v", got)
	}
}
