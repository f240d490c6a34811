package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/google/go-cmp/cmp"
)

func countedIn(t *testing.T, events []journal.Event) (counted []int) {
	t.Helper()
	for _, e := range events {
		if e.Type == "sheep.counted" {
			counted = append(counted, countIn(t, e))
		}
	}
	return counted
}

func countIn(t *testing.T, e journal.Event) int {
	t.Helper()
	var data struct{ N int }
	must(t, json.Unmarshal(e.Data, &data))
	return data.N
}

func TestFailedSyncIsRecoveredToANewFile(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 2, 10)...)
	must(t, l.Sync())
	mustAppend(t, l, batch(3, 4, 10)...)
	before, old := readFile(t, l.Path()), stat(t, l.Path())

	disk.Fail(1, syscall.EIO, journaltest.Sync)
	if err := l.Sync(); !errors.Is(err, syscall.EIO) || !errors.Is(err, journal.ErrPoisoned) {
		t.Fatalf("Sync: %v", err)
	}
	events, err := l.Recover(t.Context())
	if err != nil || len(events) != 1 {
		t.Fatalf("Recover: %d events, %v", len(events), err)
	}
	if what := recoveredIn(t, events[0]); !strings.Contains(what.Reason, "sync failed") || what.Aside != "" {
		t.Errorf("recorded %+v", what)
	}
	if os.SameFile(old, stat(t, l.Path())) {
		t.Error("it is the same file")
	}
	after := readFile(t, l.Path())
	if want := string(before) + string(events[0].Line()) + "\n"; string(after) != want {
		t.Errorf("the new file holds\n%s\nwant\n%s", after, want)
	}
	if e := mustAppend(t, l, counted(5, 0))[0]; e.Synced != 5 {
		t.Errorf("the next event calls %d synced", e.Synced)
	}
}

func stat(t *testing.T, name string) fs.FileInfo {
	t.Helper()
	info, err := os.Stat(name)
	must(t, err)
	os.SameFile(info, info) // Windows reads now which file it is
	return info
}

func TestRecoverReturnsABatchOfAFailedRecover(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	disk.Fail(1, syscall.ENOSPC, journaltest.Write)
	if _, err := l.Append(counted(2, 0)); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	if _, err := l.Recover(t.Context()); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	events, err := l.Recover(t.Context())
	must(t, err)
	same(t, "returned", events, validEvents(t, dir, l.ID())[1:])
}

// After a Recover without an error, even with a failed operation, the log works.
func TestFailedRecoverIsReported(t *testing.T) {
	for name, poison := range map[string]func(disk *journaltest.FS, l *journal.Log) error{
		"failed sync": func(disk *journaltest.FS, l *journal.Log) error {
			mustAppend(t, l, counted(2, 0))
			disk.Fail(1, syscall.EIO, journaltest.Sync)
			return l.Sync()
		},
		"failed write": func(disk *journaltest.FS, l *journal.Log) error {
			disk.HalfWrites(true)
			disk.Fail(1, syscall.ENOSPC, journaltest.Write)
			_, err := l.Append(counted(2, 0))
			return err
		},
		"removed directory": func(_ *journaltest.FS, l *journal.Log) error {
			mustAppend(t, l, counted(2, 0))
			must(t, os.RemoveAll(filepath.Dir(l.Path())))
			return l.Sync()
		},
	} {
		t.Run(name, func(t *testing.T) {
			for n, failed := 1, true; failed; n++ {
				disk := journaltest.New(noSyncFS{vfs.OS})
				dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
				l := mustCreate(t, dir)
				mustAppend(t, l, counted(1, 0))
				must(t, l.Sync())
				if err := poison(disk, l); !errors.Is(err, journal.ErrPoisoned) {
					t.Fatalf("before Recover: %v", err)
				}
				before := disk.Count()
				disk.Fail(n, syscall.EACCES)
				_, err := l.Recover(t.Context())
				failed = disk.Count()-before >= n
				disk.Heal()
				if errors.Is(err, syscall.EACCES) {
					_, err = l.Recover(t.Context())
				}
				if err != nil {
					t.Fatalf("operation %d: Recover: %v", n, err)
				}
				mustAppend(t, l, counted(3, 0))
				if err := l.Close(); err != nil {
					t.Fatalf("operation %d: Close: %v", n, err)
				}
				if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2, 3}) {
					t.Errorf("operation %d: the journal has %v", n, got)
				}
			}
		})
	}
}

func TestFailedFirstSyncIsNotRetriedOnTheSameFile(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	id := newJournal(t, dir, 0)
	l := mustOpen(t, dir, id)
	old := stat(t, l.Path())
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	if _, err := l.Append(counted(16, 0)); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	events := mustAppend(t, l, counted(16, 0))
	if what := recoveredIn(t, events[0]); !strings.Contains(what.Reason, "sync failed") {
		t.Errorf("recorded %+v", what)
	}
	if os.SameFile(old, stat(t, l.Path())) {
		t.Error("it is the same file")
	}
	if n := len(validEvents(t, dir, id)); n != 17 {
		t.Errorf("%d events", n)
	}
}

func TestFullDiskIsRecordedOnceAndCostsNoFile(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	acknowledged := mustAppend(t, l, batch(1, 3, 50)...)
	before := filesIn(t, dir.Path())
	disk.HalfWrites(true)
	disk.FailFrom(1, syscall.ENOSPC, journaltest.Write)
	if _, err := l.Append(batch(4, 6, 200)...); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	half := readFile(t, l.Path())
	partial := bytes.LastIndexByte(half, '\n') + 1
	for range 20 {
		if _, err := l.Recover(t.Context()); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, filesIn(t, dir.Path())); diff != "" {
			t.Fatalf("files (-before +now):\n%s", diff)
		}
		events, _, err := read(t, dir, l.ID())
		must(t, err)
		same(t, "read while the disk is full", events[:3], acknowledged)
	}
	disk.Heal()
	recovered, err := l.Recover(t.Context())
	must(t, err)
	if len(recovered) != 4 {
		t.Fatalf("Recover returned %d events, want the 3 of the batch and 1 that records the failure", len(recovered))
	}
	if what := recoveredIn(t, recovered[3]); what.Aside != "" ||
		what.Offset != int64(partial) || what.Bytes != int64(len(half)-partial) ||
		!strings.Contains(what.Reason, "a write failed: ") {
		t.Errorf("recorded %+v", what)
	}
	same(t, "read", validEvents(t, dir, l.ID()), append(acknowledged, recovered...))
}

// truncate returns a function that truncates a file after n lines, plus some bytes.
func truncate(n, plus int) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		must(t, os.Truncate(path, int64(lineEnd(readFile(t, path), n)+plus)))
	}
}

// lineEnd returns the length of the first n lines.
func lineEnd(data []byte, n int) int { return len(bytes.Join(splitLines(data)[:n], nil)) }

// failedWrites are changes of the file before Recover.
var failedWrites = []struct {
	name   string
	damage func(t *testing.T, path string)
	aside  string // the bytes set aside
	err    string // the error of Recover
}{
	{name: "nothing", damage: func(*testing.T, string) {}},
	{name: "the incomplete line is gone", damage: truncate(5, 0)},
	{name: "an acknowledged line is gone", damage: truncate(4, 0)},
	{name: "all that was not synced is gone", damage: truncate(3, 0)},
	{name: "more is gone", damage: truncate(3, -1), err: "another program truncated it"},
	{name: "a page was lost", aside: "\x00\x00\x00", damage: func(t *testing.T, path string) {
		appendFile(t, path, []byte{0, 0, 0})
	}},
	{name: "an acknowledged line was changed", aside: "#", damage: func(t *testing.T, path string) {
		data := readFile(t, path)
		writeFile(t, path, append(data[:lineEnd(data, 4)], '#'))
	}},
	{name: "a copy was put in its place", damage: func(t *testing.T, path string) {
		writeFile(t, path+".copy", readFile(t, path))
		must(t, os.Rename(path+".copy", path))
	}},
	{name: "another file was put in its place", err: "another file has its name",
		damage: func(t *testing.T, path string) {
			writeFile(t, path+".copy", bytes.Repeat([]byte("mine\n"), 500))
			must(t, os.Rename(path+".copy", path))
		}},
	{name: "a line of another program", err: "another program has written",
		damage: func(t *testing.T, path string) {
			data := readFile(t, path)
			must(t, os.Truncate(path, int64(lineEnd(data, 5))))
			other := journal.NewDir(filepath.Join(t.TempDir(), "other"), journal.Options{FS: noSyncFS{vfs.OS}})
			id := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			writeFile(t, filepath.Join(other.Path(), id+".jsonl"), readFile(t, path))
			l := mustOpen(t, other, id)
			mustAppend(t, l, counted(99, 0))
			writeFile(t, path, readFile(t, l.Path()))
		}},
}

// TestFailedWriteIsCompleted changes the file of a journal of which 1 to 3 are
// synced, 4 and 5 acknowledged, and half of 6 was written.
func TestFailedWriteIsCompleted(t *testing.T) {
	for _, c := range failedWrites {
		t.Run(c.name, func(t *testing.T) {
			disk := journaltest.New(noSyncFS{vfs.OS})
			dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
			l := mustCreate(t, dir)
			mustAppend(t, l, batch(1, 3, 50)...)
			must(t, l.Sync())
			mustAppend(t, l, batch(4, 5, 50)...)
			disk.HalfWrites(true)
			disk.Fail(1, syscall.ENOSPC, journaltest.Write)
			if _, err := l.Append(counted(6, 200)); !errors.Is(err, syscall.ENOSPC) {
				t.Fatal(err)
			}
			c.damage(t, l.Path())
			changed := readFile(t, l.Path())
			recovered, err := l.Recover(t.Context())
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("Recover: %v, want %s", err, c.err)
				}
				if diff := cmp.Diff(string(changed), string(readFile(t, l.Path()))); diff != "" {
					t.Errorf("the file was changed:\n%s", diff)
				}
				return
			}
			must(t, err)
			if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2, 3, 4, 5, 6}) {
				t.Errorf("the journal has %v", got)
			}
			if _, err := dir.Open(t.Context(), l.ID()); !errors.Is(err, journal.ErrLocked) {
				t.Errorf("the lock is not held: %v", err)
			}
			checkAside(t, dir, recovered, c.aside)
		})
	}
}

// checkAside checks what was set aside, and what was recorded of it.
func checkAside(t *testing.T, dir *journal.Dir, recovered []journal.Event, want string) {
	t.Helper()
	asides, _ := filepath.Glob(filepath.Join(dir.Path(), "*.aside-*"))
	var got, recorded string
	for _, name := range asides {
		got += string(readFile(t, name))
	}
	for _, e := range recovered {
		if e.Type == journal.TypeRecovered {
			recorded += recoveredIn(t, e).Aside
		}
	}
	if got != want || (recorded != "") != (want != "") {
		t.Errorf("%q was set aside, in %q; want %q", got, recorded, want)
	}
}

func TestClosingAPoisonedLogKeepsAcknowledged(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	acknowledged := mustAppend(t, l, counted(1, 0))
	disk.HalfWrites(true)
	disk.FailFrom(1, syscall.ENOSPC, journaltest.Write)
	if _, err := l.Append(counted(2, 0)); err == nil {
		t.Fatal("appended to a full disk")
	}
	if err := l.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Close: %v", err)
	}
	events, torn, err := read(t, dir, l.ID())
	must(t, err)
	same(t, "read", events, acknowledged)
	if torn.Bytes == 0 {
		t.Error("the incomplete line is gone")
	}
	mustOpen(t, dir, l.ID()) // the lock was released
}

func TestRemovedJournalIsRecreated(t *testing.T) {
	for _, remove := range []struct {
		name string
		path func(dir *journal.Dir, id string) string
	}{
		{"the file", func(dir *journal.Dir, id string) string { return filepath.Join(dir.Path(), id+".jsonl") }},
		{"the directory", func(dir *journal.Dir, _ string) string { return dir.Path() }},
	} {
		t.Run(remove.name, func(t *testing.T) {
			dir := newDir(t)
			l := mustCreate(t, dir)
			mustAppend(t, l, batch(1, 3, 5000)...)
			must(t, l.Sync())
			must(t, os.RemoveAll(remove.path(dir, l.ID())))
			mustAppend(t, l, batch(4, 5, 10)...)
			if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
				t.Fatalf("Sync: %v", err)
			}
			_, err := l.Recover(t.Context())
			must(t, err)
			mustAppend(t, l, counted(6, 0))
			must(t, l.Sync())
			events, _, err := read(t, dir, l.ID())
			must(t, err)
			if got := counts(t, events); !slices.Equal(got, []int{1, 2, 3, 4, 5, 6}) {
				t.Errorf("the journal has %v", got)
			}
			if _, err := dir.Open(t.Context(), l.ID()); !errors.Is(err, journal.ErrLocked) {
				t.Errorf("the lock is not held: %v", err)
			}
		})
	}
}

func TestOtherFileOfTheNameIsNotOverwritten(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 3, 10)...)
	must(t, l.Sync())
	path := filepath.Join(dir.Path(), l.ID()+".jsonl")
	must(t, os.Remove(path))
	must(t, os.WriteFile(path, []byte("mine\n"), 0o600))
	mustAppend(t, l, counted(4, 0))
	if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		t.Fatalf("Sync: %v", err)
	}
	if _, err := l.Recover(t.Context()); err == nil {
		t.Error("Recover replaced another program's file")
	}
	must(t, os.Remove(path))
	_, err := l.Recover(t.Context())
	must(t, err)
	events, _, err := read(t, dir, l.ID())
	must(t, err)
	if got := counts(t, events); !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("the journal has %v", got)
	}
}

func TestFailedBatchDoesNotShareItsRecords(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 10))
	record := counted(2, 10)
	disk.Fail(1, syscall.EIO, journaltest.Write)
	if _, err := l.Append(record); !errors.Is(err, journal.ErrPoisoned) {
		t.Fatalf("Append: %v", err)
	}
	for i := range record.Data {
		record.Data[i] = 'x'
	}
	events, err := l.Recover(t.Context())
	must(t, err)
	if got := countedIn(t, events); !slices.Equal(got, []int{2}) || len(events) != 1 { // nothing of it was in the file
		t.Errorf("Recover returns the counts %d, %d events", got, len(events))
	}
	if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the journal has the counts %d", got)
	}
}

func TestSyncDetectsATruncatedJournal(t *testing.T) {
	for _, tt := range []struct {
		name string
		left func(synced int64) int64
		err  string // the error of Recover; "": none
	}{
		{"after what was on the disk", func(synced int64) int64 { return synced + 5 }, ""},
		{"before it", func(synced int64) int64 { return synced - 5 }, "only 1 of its 2 events can still be read"},
		{"to nothing", func(int64) int64 { return 0 }, "only 0 of its 2 events can still be read"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := journal.NewDir(t.TempDir(), journal.Options{FS: noSyncFS{vfs.OS}})
			l := mustCreate(t, dir)
			mustAppend(t, l, batch(1, 2, 10)...)
			must(t, l.Sync())
			synced := stat(t, l.Path()).Size()
			mustAppend(t, l, counted(3, 0))
			before := readFile(t, l.Path())
			must(t, os.Truncate(l.Path(), tt.left(synced)))
			mustAppend(t, l, counted(4, 0))

			if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) ||
				!strings.Contains(err.Error(), "another program truncated it") {
				t.Fatalf("Sync: %v", err)
			}
			_, err := l.Recover(t.Context())
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("Recover: %v", err)
				}
				must(t, os.WriteFile(l.Path(), before, 0o600)) // restored from a backup
				_, err = l.Recover(t.Context())
			}
			must(t, err)
			if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2, 3, 4}) {
				t.Errorf("it holds %v", got)
			}
		})
	}
}
