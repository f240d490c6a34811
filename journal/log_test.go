package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// holdEnv makes this test binary a second process that locks a journal.
const holdEnv = "JOURNAL_TEST_HOLD"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdEnv); path != "" {
		hold(path)
		return
	}
	journaltest.UseMemoryForTempDir()
	os.Exit(m.Run())
}

// hold opens a journal, prints a line, and closes it when its input ends.
func hold(path string) {
	dir := journal.NewDir(filepath.Dir(path), journal.Options{})
	l, err := dir.Open(context.Background(), strings.TrimSuffix(filepath.Base(path), ".jsonl"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	os.Stdin.Read(make([]byte, 1))
	l.Close()
}

func TestCreateWritesNothingBeforeAppend(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	must(t, l.Sync())
	if _, err := l.Append(); err != nil {
		t.Error("an empty batch:", err)
	}
	if _, err := os.Stat(dir.Path()); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the directory exists:", err)
	}
	mustAppend(t, l, counted(1, 0))
	if n := len(validEvents(t, dir, l.ID())); n != 1 {
		t.Errorf("%d events after the first Append", n)
	}
}

func TestTooLongEventIsRefused(t *testing.T) {
	dir := journal.NewDir(t.TempDir(), journal.Options{MaxLine: 4096})
	l := mustCreate(t, dir)
	if _, err := l.Append(counted(1, 0), counted(2, 4096)); !errors.Is(err, journal.ErrTooLong) {
		t.Fatalf("error %v", err)
	}
	if names := filesIn(t, dir.Path()); len(names) > 0 {
		t.Error("there are files:", names)
	}
	mustAppend(t, l, counted(1, 0))
	if _, err := l.Append(counted(2, 4096)); !errors.Is(err, journal.ErrTooLong) {
		t.Fatalf("error %v", err)
	}
	for padding := 3800; padding < 4096; padding++ {
		if _, err := l.Append(counted(2, padding)); errors.Is(err, journal.ErrTooLong) {
			break
		}
	}
	validEvents(t, dir, l.ID()) // all accepted events can be read
}

func TestEventOf16MiB(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 16<<20), counted(2, 0))
	must(t, l.Close())
	if events := validEvents(t, dir, l.ID()); len(events) != 2 || len(events[0].Data) < 16<<20 {
		t.Errorf("%d events", len(events))
	}
	if seq := mustOpen(t, dir, l.ID()).Position().Seq; seq != 2 {
		t.Errorf("opened after event %d", seq)
	}
}

func TestInvalidRecordsAreRefused(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	for name, r := range map[string]journal.Record{
		"no data":         {Type: "sheep.counted"},
		"half an object":  {Type: "sheep.counted", Data: json.RawMessage(`{"n":`)},
		"an array":        {Type: "sheep.counted", Data: json.RawMessage(`[]`)},
		"two objects":     {Type: "sheep.counted", Data: json.RawMessage(`{}{}`)},
		"no type":         {Data: json.RawMessage(`{}`)},
		"no verb":         {Type: "sheep", Data: json.RawMessage(`{}`)},
		"a quote in type": {Type: `sheep.counted"`, Data: json.RawMessage(`{}`)},
		"upper case":      {Type: "Sheep.counted", Data: json.RawMessage(`{}`)},
		"a year too far": {Type: "sheep.counted", Data: json.RawMessage(`{}`),
			Time: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a year before 0": {Type: "sheep.counted", Data: json.RawMessage(`{}`),
			Time: time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC)},
		"a newline inside": {Type: "sheep.counted", Data: json.RawMessage("{\"a\":\"\n\"}")},
	} {
		if _, err := l.Append(counted(1, 0), r); err == nil {
			t.Error(name, "is accepted")
		}
	}
	if events := mustAppend(t, l, journal.Record{Type: "sheep.counted",
		Data: json.RawMessage("{ \"a\":\n\"<&>\" }")}); string(events[0].Data) != `{"a":"<&>"}` {
		t.Errorf("stored as %s", events[0].Data)
	}
	validEvents(t, dir, l.ID())
}

func TestBatchIsOneWrite(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	before := disk.Count(journaltest.Write)
	mustAppend(t, l, batch(2, 100, 1000)...)
	if n := disk.Count(journaltest.Write) - before; n != 1 {
		t.Errorf("%d writes\n%s", n, disk)
	}
}

func TestFirstLineAfterASyncHasSynced(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 2, 0)...)
	must(t, l.Sync())
	mustAppend(t, l, batch(3, 4, 0)...)
	mustAppend(t, l, counted(5, 0))
	must(t, l.Sync())
	must(t, l.Sync())
	mustAppend(t, l, counted(6, 0))
	must(t, l.Close())
	l = mustOpen(t, dir, l.ID())
	mustAppend(t, l, counted(7, 0))
	var claims []uint64
	for i, e := range validEvents(t, dir, l.ID()) {
		if e.Seq != uint64(i)+1 {
			t.Errorf("event %d has seq %d", i+1, e.Seq)
		}
		claims = append(claims, e.Synced)
	}
	if diff := cmp.Diff([]uint64{0, 0, 2, 0, 0, 5, 6}, claims); diff != "" {
		t.Errorf("synced (-want +got):\n%s", diff)
	}
}

func TestSyncSyncsTheDirectoryOfAnEarlierProcess(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	disk := journaltest.New(vfs.OS)
	l := mustOpen(t, journal.NewDir(dir.Path(), journal.Options{FS: disk}), id)
	mustAppend(t, l, counted(16, 0))
	must(t, l.Sync())
	if disk.Count(journaltest.SyncDir) == 0 {
		t.Errorf("the directory was not synced\n%s", disk)
	}
}

func TestSecondWriterGetsALockedError(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	mustOpen(t, dir, id)
	host, _ := os.Hostname()
	want := journal.Holder{PID: os.Getpid(), Host: host, StartedAt: noon}
	for name, open := range map[string]func() error{
		"Open":    func() error { _, err := dir.Open(t.Context(), id); return err },
		"Archive": func() error { return dir.Archive(t.Context(), id) },
		"Trash":   func() error { return trash.Of(dir).Move(t.Context(), id) },
		"Create": func() error {
			l, err := dir.Create(id)
			must(t, err)
			_, err = l.Append(counted(1, 0))
			return err
		},
	} {
		err := open()
		var locked *journal.LockedError
		if !errors.As(err, &locked) || !errors.Is(err, journal.ErrLocked) || locked.Holder != want {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
}

func TestLockHoldsAcrossProcesses(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdEnv+"="+path)
	stdin, err := other.StdinPipe()
	must(t, err)
	stdout, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	said := make([]byte, 4)
	if _, err := stdout.Read(said); err != nil || string(said) != "held" {
		t.Fatalf("the other process printed %q, %v", said, err)
	}

	_, err = dir.Open(t.Context(), id)
	var locked *journal.LockedError
	if !errors.As(err, &locked) || locked.Holder.PID != other.Process.Pid {
		t.Errorf("error %v, want process %d", err, other.Process.Pid)
	}

	must(t, stdin.Close())
	must(t, other.Wait())
	l := mustOpen(t, dir, id)
	must(t, l.Close())
	if holder := readFile(t, filepath.Join(dir.Path(), id+".lock")); len(holder) > 0 {
		t.Errorf("the lock file names %s after Close", holder)
	}
}

func TestDeadProcessHoldsNoLock(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), holdEnv+"="+filepath.Join(dir.Path(), id+".jsonl"))
	stdin, err := other.StdinPipe()
	must(t, err)
	defer stdin.Close()
	stdout, err := other.StdoutPipe()
	must(t, err)
	must(t, other.Start())
	stdout.Read(make([]byte, 4))
	must(t, other.Process.Kill())
	other.Wait()
	if stale := readFile(t, filepath.Join(dir.Path(), id+".lock")); len(stale) == 0 {
		t.Error("the lock file does not name the dead process")
	}
	mustOpen(t, dir, id)
}

func TestLockFileContentDecidesNothing(t *testing.T) {
	for name, content := range map[string]string{
		"a process elsewhere":    `{"pid":1,"host":"elsewhere","startedAt":"2026-11-21T12:00:00Z"}`,
		"a process that is dead": named(t, deadPID(t)),
		"a reused process id":    named(t, os.Getppid()),
		"this very process":      named(t, os.Getpid()),
		"an invalid process id":  `{"pid":-1,"host":"","startedAt":"2026-11-21T12:00:00Z"}`,
		"another format":         `[1,2,3]`,
		"nonsense":               "\x00{",
		"half a name":            `{"pid":17,"ho`,
		"nothing":                "",
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			writeFile(t, filepath.Join(dir.Path(), id+".lock"), []byte(content))
			mustAppend(t, mustOpen(t, dir, id), counted(16, 0))
		})
	}
}

func TestClosedLogRefusesEverythingButClose(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Close())
	must(t, l.Close())
	_, appendErr := l.Append(counted(2, 0))
	_, recoverErr := l.Recover(t.Context())
	_, sealErr := l.Seal()
	_, readerErr := l.Reader(journal.Position{})
	for name, err := range map[string]error{
		"Append": appendErr, "Sync": l.Sync(), "Recover": recoverErr, "Seal": sealErr, "Reader": readerErr,
	} {
		if !errors.Is(err, journal.ErrClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOpenWithoutALockFailsAtAppend(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	id := newJournal(t, dir, 0)
	disk.FailFrom(1, syscall.EROFS, journaltest.Lock)
	l := mustOpen(t, dir, id)
	if l.Position().Seq != 15 {
		t.Errorf("opened at %+v", l.Position())
	}
	if _, err := l.Append(counted(16, 0)); !errors.Is(err, syscall.EROFS) || errors.Is(err, journal.ErrPoisoned) {
		t.Errorf("error %v", err)
	}
	if err := dir.Archive(t.Context(), id); !errors.Is(err, syscall.EROFS) {
		t.Errorf("Archive: %v", err)
	}
	disk.Heal()
	mustAppend(t, l, counted(16, 0))
	validEvents(t, dir, id)
}

func TestAppendFailsIfChangedBeforeALateLock(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	id := newJournal(t, dir, 0)
	disk.Fail(1, syscall.EROFS, journaltest.Lock)
	late := mustOpen(t, dir, id)
	other := mustOpen(t, dir, id)
	mustAppend(t, other, counted(16, 0))
	must(t, other.Close())
	for range 2 {
		if _, err := late.Append(counted(17, 0)); err == nil {
			t.Fatal("appended after an unknown event")
		}
	}
	mustAppend(t, mustOpen(t, dir, id), counted(17, 0)) // the lock was released
}

func TestCreateDoesNotReplaceAJournal(t *testing.T) {
	for name, prepare := range map[string]func(*journal.Dir, context.Context, string) error{
		"live":     func(*journal.Dir, context.Context, string) error { return nil },
		"archived": (*journal.Dir).Archive,
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 0)
			must(t, prepare(dir, t.Context(), id))
			l, err := dir.Create(id)
			must(t, err)
			defer l.Close()
			if _, err := l.Append(counted(1, 0)); !errors.Is(err, fs.ErrExist) {
				t.Errorf("error %v", err)
			}
			if n := len(validEvents(t, dir, id)); n != 15 {
				t.Errorf("%d events", n)
			}
		})
	}
}

func TestConcurrentAppends(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	var writers sync.WaitGroup
	for w := range 8 {
		writers.Go(func() {
			for n := range 25 {
				if _, err := l.Append(counted(w*1000+n, n)); err != nil {
					t.Error(err)
				}
				if err := l.Sync(); n%10 == 0 && err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	if n := len(validEvents(t, dir, l.ID())); n != 200 {
		t.Errorf("%d events", n)
	}
}

func TestMissingJournalIsNotFound(t *testing.T) {
	dir := newDir(t)
	id := dir.NewID()
	_, openErr := dir.Open(t.Context(), id)
	_, readErr := dir.Reader(id, journal.Position{})
	_, statErr := dir.Stat(id)
	_, sealErr := dir.Seal(t.Context(), id)
	_, repairErr := dir.Repair(t.Context(), id, nil, false)
	_, createdErr := mustCreate(t, dir).Reader(journal.Position{})
	for name, err := range map[string]error{
		"Open": openErr, "Reader": readErr, "Stat": statErr, "Archive": dir.Archive(t.Context(),
			id), "Trash": trash.Of(dir).Move(t.Context(), id),
		"Check": dir.Check(id), "Seal": sealErr, "Repair": repairErr, "Reader of a new Log": createdErr,
	} {
		if !errors.Is(err, journal.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if names := filesIn(t, filepath.Dir(dir.Path())); len(names) > 0 {
		t.Error("files were created:", names)
	}
}

func TestReturnedEventsAreNotOverwritten(t *testing.T) {
	l := mustCreate(t, newDir(t))
	var events []journal.Event
	for n := 1; n <= 20; n++ {
		events = append(events, mustAppend(t, l, counted(n, 100*n))...)
		if n%3 == 0 {
			must(t, l.Sync())
		}
	}
	var want []journal.Event
	for n, e := range events {
		e.Data = counted(n+1, 100*(n+1)).Data
		want = append(want, e)
	}
	same(t, "events", events, want)
}

func TestDiscard(t *testing.T) {
	dir := newDir(t)
	made := mustCreate(t, dir)
	mustAppend(t, made, counted(1, 0))
	must(t, made.Discard())
	must(t, made.Close())
	if names := filesIn(t, dir.Path()); len(names) > 0 {
		t.Errorf("it left %v", names)
	}
	if _, err := made.Append(counted(2, 0)); !errors.Is(err, journal.ErrClosed) {
		t.Errorf("Append: %v", err)
	}
	must(t, mustCreate(t, dir).Discard()) // nothing was written
	empty := dir.NewID()
	writeFile(t, filepath.Join(dir.Path(), empty+".jsonl"), nil) // as after a crash
	begun := mustOpen(t, dir, empty)
	mustAppend(t, begun, counted(1, 0))
	must(t, begun.Discard())
	if names := filesIn(t, dir.Path()); len(names) > 0 {
		t.Errorf("it left %v", names)
	}

	id := newJournal(t, dir, 0)
	opened := mustOpen(t, dir, id)
	mustAppend(t, opened, counted(16, 0))
	must(t, opened.Discard())
	must(t, opened.Close())
	if n := len(validEvents(t, dir, id)); n != 16 {
		t.Errorf("%d events are left", n)
	}
}

func TestCancelledCallsReturnTheErrorOfTheContext(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	before := readFile(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, listErr := dir.List(ctx)
	_, openErr := dir.Open(ctx, id)
	data := bytes.Replace(before, []byte("sheep"), []byte("shoes"), 1)
	_, repairErr := func() (journal.Repaired, error) {
		writeFile(t, path, data)
		return dir.Repair(ctx, id, nil, false)
	}()
	for name, err := range map[string]error{
		"List": listErr, "Open": openErr, "Repair": repairErr, "Archive": dir.Archive(ctx, id),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if got := readFile(t, path); !bytes.Equal(got, data) {
		t.Error("the journal was changed")
	}
	writeFile(t, path, before)
	mustAppend(t, mustOpen(t, dir, id), counted(16, 0)) // the lock was released
}

func TestCancelledRecoverCanBeRetried(t *testing.T) {
	disk := journaltest.New(noSyncFS{vfs.OS})
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: disk})
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Sync())
	mustAppend(t, l, counted(2, 0))
	disk.Fail(1, syscall.EIO, journaltest.Sync)
	if err := l.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Recover(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	_, err := l.Recover(t.Context())
	must(t, err)
	if n := len(validEvents(t, dir, l.ID())); n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestCancelledArchivingKeepsTheJournal(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	options := journal.Options{FS: noSyncFS{vfs.OS}, Progress: func(journal.Progress) { cancel() }}
	dir := journal.NewDir(t.TempDir(), options).WithFrames(100)
	id := newJournal(t, dir, 100)
	if err := dir.Archive(ctx, id); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if info, err := dir.Stat(id); err != nil || info.Archived {
		t.Errorf("%+v, %v", info, err)
	}
	if names := filesIn(t, dir.Path()); len(names) != 2 {
		t.Errorf("the files are %v", names)
	}
	validEvents(t, dir, id)
}
