package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

const (
	programDir = "/home/journals"
	programID  = "01KAHV6T3R8Q4Y2M0N7C5B0001"
)

// tally counts what the runs of a test have tried.
type tally struct {
	faults, cuts atomic.Int64

	mu     sync.Mutex
	images map[[32]byte]bool
}

// add counts an image.
func (c *tally) add(image *journaltest.Mem) (sum [32]byte) {
	c.cuts.Add(1)
	sum = image.Sum()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images[sum] = true
	return sum
}

// program is a program that performs all operations on one journal. It retries what
// fails, and records what was acknowledged.
type program struct {
	t     *testing.T
	tried *tally
	mem   *journaltest.Mem
	disk  *journaltest.FS
	dir   *journal.Dir
	log   *journal.Log

	failures     int
	appended     int      // the last number that was passed to Append
	acked        int      // the last one that an Append has acknowledged
	synced       int      // the last one that a Sync or a Close has acknowledged
	lost         []int    // numbers that were corrupted on purpose
	corrupted    bool     // and not repaired yet
	maybeInTrash bool     // the trash may still contain the restored journal
	places       []string // where the journal may be: "nowhere", "in place", "in the trash"

	asideBytes []byte // bytes that must be kept, in the journal or set aside

	seen map[string]bool // images, with the expected state
}

func newProgram(t *testing.T, tried *tally) *program {
	mem := journaltest.NewMem()
	must(t, mem.Mkdir("/home", 0o700))
	must(t, mem.SyncDir("/"))
	disk := journaltest.New(mem)
	return &program{t: t, tried: tried, mem: mem, disk: disk, dir: memDir(disk), places: []string{"nowhere"},
		seen: map[string]bool{}}
}

func memDir(fsys vfs.FS) *journal.Dir {
	return journal.NewDir(programDir, journal.Options{FS: fsys, Now: atNoon}).WithoutNotifications().WithFrames(4000)
}

// try repeats an operation until it succeeds. The disk is healed after several
// failures. If an attempt took effect but was not acknowledged, the next attempt
// fails with one of the errors in done: then try returns false.
func (l *program) try(what string, do func() error, done ...error) (acked bool) {
	l.t.Helper()
	for attempt := 0; ; attempt++ {
		err := do()
		if err == nil {
			return true
		}
		if attempt > 0 && slices.ContainsFunc(done, func(d error) bool { return errors.Is(err, d) }) {
			return false
		}
		l.failed(what, err)
	}
}

func (l *program) failed(what string, err error) {
	l.t.Helper()
	if !l.disk.Failed() {
		l.t.Fatalf("%s failed without a fault: %v\n%s", what, err, l.disk)
	}
	if l.failures++; l.failures%3 == 0 {
		l.disk.Heal()
	}
	if l.failures > 20 {
		l.t.Fatalf("%s still fails: %v\n%s", what, err, l.disk)
	}
}

func (l *program) create() {
	l.t.Helper()
	log, err := l.dir.Create(programID)
	must(l.t, err)
	l.log, l.places = log, []string{"nowhere", "in place"}
}

func (l *program) open() {
	l.t.Helper()
	l.try("Open", func() (err error) {
		l.log, err = l.dir.Open(l.t.Context(), programID)
		return err
	})
}

// append appends a batch of records with the given bytes of padding.
func (l *program) append(padding ...int) {
	l.t.Helper()
	var records []journal.Record
	for _, p := range padding {
		l.appended++
		records = append(records, counted(l.appended, p))
	}
	l.try("Append", func() error {
		_, err := l.log.Append(records...)
		if errors.Is(err, journal.ErrPoisoned) {
			l.failed("Append", err)
			return l.recover()
		}
		return err
	})
	l.acked = l.appended
}

// recover recovers a poisoned Log.
func (l *program) recover() error {
	l.t.Helper()
	if _, err := l.log.Append(counted(0, 0)); !errors.Is(err, journal.ErrPoisoned) {
		l.t.Fatalf("Append to a poisoned log: %v", err)
	}
	l.try("Recover", func() error {
		_, err := l.log.Recover(l.t.Context())
		return err
	})
	l.acked, l.synced = l.appended, l.appended
	l.places = []string{"in place"}
	return nil
}

func (l *program) sync() {
	l.t.Helper()
	l.try("Sync", func() error {
		err := l.log.Sync()
		if errors.Is(err, journal.ErrPoisoned) {
			l.mem.DropCaches()
			l.failed("Sync", err)
			return l.recover()
		}
		return err
	})
	l.synced, l.places = l.acked, []string{"in place"}
}

func (l *program) close() {
	l.t.Helper()
	l.sync()
	must(l.t, l.log.Close())
}

// path returns the path of the live journal.
func (l *program) path() string { return filepath.Join(programDir, programID+".jsonl") }

// tear leaves an incomplete line, as a writer that dies during a write.
func (l *program) tear() {
	l.t.Helper()
	f, err := l.mem.OpenFile(l.path(), os.O_WRONLY|os.O_APPEND, 0)
	must(l.t, err)
	l.asideBytes = []byte(`{"seq":99,"time":"2026-`)
	_, err = f.Write(l.asideBytes)
	must(l.t, err)
	must(l.t, f.Sync())
}

// dieUnsynced appends complete lines, as a writer that is killed before it syncs.
func (l *program) dieUnsynced(padding ...int) {
	l.t.Helper()
	f, err := l.mem.OpenFile(l.path(), os.O_WRONLY|os.O_APPEND, 0)
	must(l.t, err)
	at := l.log.Position()
	for _, p := range padding {
		l.appended++
		e, next, err := at.Next(counted(l.appended, p))
		must(l.t, err)
		_, err = f.Write(append(e.Line(), '\n'))
		must(l.t, err)
		at = next
	}
	l.acked = l.appended
}

// corrupt changes a byte of the second line, durably.
func (l *program) corrupt() {
	l.t.Helper()
	data, err := vfs.ReadFile(l.mem, l.path(), 1<<30)
	must(l.t, err)
	data[bytes.IndexByte(data, '\n')+300] ^= 1
	f, err := l.mem.OpenFile(l.path(), os.O_WRONLY, 0)
	must(l.t, err)
	_, err = f.Write(data)
	must(l.t, err)
	must(l.t, f.Sync())
	l.corrupted, l.lost, l.asideBytes = true, []int{2}, data
}

func (l *program) repair() {
	l.t.Helper()
	l.try("Repair", func() error {
		_, err := l.dir.Repair(l.t.Context(), programID, nil, false)
		return err
	})
	l.corrupted = false
}

func (l *program) archive() {
	l.t.Helper()
	l.try("Archive", func() error { return l.dir.Archive(l.t.Context(), programID) })
}

func (l *program) trash() {
	l.t.Helper()
	l.move("Trash", func(id string) error { return trash.Of(l.dir).Move(l.t.Context(), id) }, "in the trash",
		journal.ErrNotFound)
}

func (l *program) restore() {
	l.t.Helper()
	l.maybeInTrash = !l.move("Restore", func(id string) error { return trash.Of(l.dir).Restore(l.t.Context(), id) },
		"in place", fs.ErrExist)
}

func (l *program) purge() {
	l.t.Helper()
	l.move("Purge", func(id string) error { return trash.Of(l.dir).Purge(id) }, "nowhere")
}

func (l *program) move(what string, do func(id string) error, to string, done ...error) (acked bool) {
	l.t.Helper()
	l.places = append(l.places, to)
	acked = l.try(what, func() error { return do(programID) }, done...)
	if acked {
		l.places = []string{to}
	}
	return acked
}

// cut checks every image of a power cut: the journal must be there, and usable. If
// the cut loses nothing, it has the effect of a killed process, which keeps
// unsynced events.
func (l *program) cut(when string, parts int, seed uint64) {
	l.t.Helper()
	for kind, image := range l.mem.Images(parts, seed) {
		atLeast := l.synced
		if kind == "all" && !l.disk.Failed() {
			atLeast = l.acked
		}
		// The same disk can be right before an acknowledgement and wrong after it.
		known := fmt.Sprintf("%x %d %d %v %v %v %v %d", l.tried.add(image), atLeast, l.appended, l.places,
			l.lost, l.corrupted, l.maybeInTrash, len(l.asideBytes))
		if l.seen[known] {
			continue
		}
		l.seen[known] = true
		if err := l.resume(image, atLeast); err != nil {
			l.t.Fatalf("%s, image %s: %v\n%s", when, kind, err, l.disk)
		}
	}
}

func (l *program) resume(image *journaltest.Mem, atLeast int) error {
	dir := memDir(image)
	place, err := l.place(dir)
	if err != nil {
		return err
	}
	if place == "nowhere" && atLeast == 0 {
		return nil
	}
	if !slices.Contains(l.places, place) {
		return fmt.Errorf("the journal is %s, not %s", place, strings.Join(l.places, " or "))
	}
	if place == "nowhere" {
		return nil
	}
	if place == "in the trash" {
		if err := trash.Of(dir).Restore(l.t.Context(), programID); err != nil {
			return err
		}
	}
	if err := l.readable(dir); err != nil {
		return err
	}
	events, err := readAll(dir)
	if err != nil {
		return err
	}
	if err := l.inOrder(events, atLeast); err != nil {
		return err
	}
	if err := l.hasAside(image); err != nil {
		return err
	}
	return appendsTo(image, events)
}

// hasAside fails unless every byte that is to be set aside is in the journal or in
// its file.
func (l *program) hasAside(image *journaltest.Mem) error {
	if l.asideBytes == nil {
		return nil
	}
	if data, err := vfs.ReadFile(image, l.path(), 1<<30); err == nil && bytes.Contains(data, l.asideBytes) {
		return nil
	}
	entries, err := image.ReadDir(programDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), programID+".aside-") {
			data, err := vfs.ReadFile(image, programDir+"/"+entry.Name(), 1<<30)
			if err == nil && bytes.Equal(data, l.asideBytes) {
				return nil
			}
		}
	}
	return fmt.Errorf("the %d bytes set aside are lost", len(l.asideBytes))
}

// place returns where the journal is, and fails if it is in two places.
func (l *program) place(dir *journal.Dir) (string, error) {
	infos, err := dir.List(l.t.Context())
	if err != nil {
		return "", err
	}
	trashed, err := trash.Of(dir).List()
	switch {
	case err != nil:
		return "", err
	case len(infos) > 1 || len(infos)+len(trashed) > 1 && !l.maybeInTrash:
		return "", fmt.Errorf("there are %d journals, and %d in the trash", len(infos), len(trashed))
	case len(infos) == 1:
		return "in place", nil
	case len(trashed) == 1:
		return "in the trash", nil
	}
	return "nowhere", nil
}

// readable repairs the journal if it was corrupted on purpose. It fails if it is
// corrupt otherwise.
func (l *program) readable(dir *journal.Dir) error {
	err := checkAll(dir)
	if corrupt := new(journal.CorruptError); l.corrupted && errors.As(err, &corrupt) {
		_, err = dir.Repair(l.t.Context(), programID, nil, false)
	}
	return err
}

func checkAll(dir *journal.Dir) error {
	_, err := readAll(dir)
	return err
}

func readAll(dir *journal.Dir) (events []journal.Event, err error) {
	r, err := dir.Reader(programID, journal.Position{})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// inOrder fails unless the events count from 1 to at atLeast the given number, each
// once and in order.
func (l *program) inOrder(events []journal.Event, atLeast int) error {
	var want []int
	got := countedIn(l.t, events)
	for n := 1; n <= l.appended && len(want) < max(len(got), atLeast-len(l.lost)); n++ {
		if !slices.Contains(l.lost, n) {
			want = append(want, n)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the journal has %v; %d was acknowledged, %d was appended", got, atLeast, l.appended)
	}
	return nil
}

// appendsTo appends to a journal, cuts the power, and checks that all events are
// there.
func appendsTo(image *journaltest.Mem, events []journal.Event) error {
	log, err := memDir(image).Open(context.Background(), programID)
	if err != nil {
		return err
	}
	added, err := log.Append(counted(1000, 10))
	if err != nil {
		return err
	}
	if err := log.Close(); err != nil {
		return err
	}
	after := memDir(image.PowerCut(func() bool { return false }))
	found, err := readAll(after)
	if err != nil {
		return err
	}
	if want := append(slices.Clip(events), added...); !slices.EqualFunc(want, found, sameLine) {
		return fmt.Errorf("%d events and %d appended ones became %d after another power cut", len(events),
			len(added), len(found))
	}
	return noLeftovers(image)
}

func sameLine(a, b journal.Event) bool { return bytes.Equal(a.Line(), b.Line()) }

func noLeftovers(m *journaltest.Mem) error {
	for _, dir := range []string{programDir, programDir + "/archive"} {
		entries, err := m.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".tmp") {
				return fmt.Errorf("%s was not removed", entry.Name())
			}
		}
	}
	return nil
}

// follow follows the journal while the program runs, and starts again if the
// journal was replaced or removed. The returned function ends this, and returns the
// events of the last file.
func (l *program) follow() (followed func() []journal.Event) {
	var events []journal.Event
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for e, err := range memDir(l.mem).Follow(ctx, programID, journal.Position{}) {
				if err != nil {
					l.checkFollowError(err)
					time.Sleep(time.Second) // of the bubble
					events = nil
					break
				}
				events = append(events, e)
			}
		}
	}()
	l.t.Cleanup(func() { cancel(); <-done })
	return func() []journal.Event {
		settle()
		cancel()
		<-done
		return events
	}
}

// checkFollowError fails unless a Follow may end with the error.
func (l *program) checkFollowError(err error) {
	corrupt := new(journal.CorruptError)
	if !errors.Is(err, journal.ErrReplaced) && !errors.Is(err, journal.ErrNotFound) && !errors.As(err, &corrupt) {
		l.t.Error("Follow:", err)
	}
}

// endsComplete fails unless all events are there at the end of a run without a
// power cut, and the follower has received the same.
func (l *program) endsComplete(when string, followed []journal.Event) {
	l.t.Helper()
	if slices.Contains(l.places, "nowhere") {
		return
	}
	events, err := readAll(memDir(l.mem))
	if err == nil {
		err = l.inOrder(events, l.appended)
	}
	if err == nil && !slices.EqualFunc(events, followed, sameLine) {
		err = fmt.Errorf("the follower received %d events of %d", len(followed), len(events))
	}
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", when, err, l.disk)
	}
}
