//go:build !windows

package journal_test

import (
	"encoding/json"
	"errors"
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
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestJournalWithoutItsLockFileIsLocked(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
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
	disk := journaltest.New(noSyncFS{vfs.OS})
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
		must(t, trash.Of(dir).Move(t.Context(), id))
	case "restore":
		must(t, trash.Of(dir).Restore(t.Context(), id))
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
			dir := journal.NewDir(filepath.Join(mount, within), journal.Options{FS: noSyncFS{vfs.OS}})
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
	other := journal.NewDir(dir.Path()+".other", journal.Options{FS: noSyncFS{vfs.OS}})
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
	held, err := vfs.LockFile(vfs.OS, lock)
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
