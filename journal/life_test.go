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
)

const (
	lifeDir = "/home/journals"
	lifeID  = "01KAHV6T3R8Q4Y2M0N7C5B0001"
)

// tally is what a run has tried.
type tally struct {
	faults, cuts atomic.Int64

	mu     sync.Mutex
	images map[[32]byte]bool
}

// add counts the image.
func (c *tally) add(image *journaltest.Mem) (sum [32]byte) {
	c.cuts.Add(1)
	sum = image.Sum()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.images[sum] = true
	return sum
}

// life is a program that does with one journal what can be done with it. It
// wants to lose nothing: it tries again what fails, and remembers what it was
// promised.
type life struct {
	t     *testing.T
	tried *tally
	mem   *journaltest.Mem
	disk  *journaltest.FS
	dir   *journal.Dir
	log   *journal.Log

	failures int
	said     int      // the last number that was handed to Append
	kept     int      // the last one that an Append has promised
	synced   int      // the last one that a Sync or a Close has promised
	lost     []int    // numbers that were damaged on purpose
	damaged  bool     // and not repaired yet
	copied   bool     // the trash may still have what was restored from it
	places   []string // where the journal may be: "nowhere", "in place", "in the trash"

	broken []byte // on the disk, in the journal until it is in a file beside it

	seen map[string]bool // images, with what was promised of each
}

func newLife(t *testing.T, tried *tally) *life {
	mem := journaltest.NewMem()
	must(t, mem.Mkdir("/home", 0o700))
	must(t, mem.SyncDir("/"))
	disk := journaltest.New(mem)
	return &life{t: t, tried: tried, mem: mem, disk: disk, dir: memDir(disk), places: []string{"nowhere"}, seen: map[string]bool{}}
}

func memDir(fsys journal.FS) *journal.Dir {
	return journal.NewDir(lifeDir, journal.Options{FS: fsys, Now: atNoon}).WithoutNotifications().WithFrames(4000)
}

// try does something until it succeeds. The disk is healed when it has failed
// often enough. What was done without the promise that it is durable makes the
// next attempt fail with one of the given errors: that is as good as success,
// but no promise.
func (l *life) try(what string, do func() error, done ...error) (promised bool) {
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

func (l *life) failed(what string, err error) {
	l.t.Helper()
	if !l.disk.Failed() {
		l.t.Fatalf("%s fails without a cause: %v\n%s", what, err, l.disk)
	}
	if l.failures++; l.failures%3 == 0 {
		l.disk.Heal()
	}
	if l.failures > 20 {
		l.t.Fatalf("%s still fails: %v\n%s", what, err, l.disk)
	}
}

func (l *life) create() {
	l.t.Helper()
	log, err := l.dir.Create(lifeID)
	must(l.t, err)
	l.log, l.places = log, []string{"nowhere", "in place"}
}

func (l *life) open() {
	l.t.Helper()
	l.try("Open", func() (err error) {
		l.log, err = l.dir.Open(lifeID)
		return err
	})
}

// append adds a batch of records with some bytes of padding each.
func (l *life) append(padding ...int) {
	l.t.Helper()
	var records []journal.Record
	for _, p := range padding {
		l.said++
		records = append(records, counted(l.said, p))
	}
	l.try("Append", func() error {
		_, err := l.log.Append(records...)
		if errors.Is(err, journal.ErrPoisoned) {
			l.failed("Append", err)
			return l.recover()
		}
		return err
	})
	l.kept = l.said
}

// recover takes a log that is poisoned on the way back.
func (l *life) recover() error {
	l.t.Helper()
	if _, err := l.log.Append(counted(0, 0)); !errors.Is(err, journal.ErrPoisoned) {
		l.t.Fatalf("Append to a poisoned log: %v", err)
	}
	l.try("Recover", func() error {
		_, err := l.log.Recover()
		return err
	})
	l.kept, l.synced = l.said, l.said
	l.places = []string{"in place"}
	return nil
}

func (l *life) sync() {
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
	l.synced, l.places = l.kept, []string{"in place"}
}

func (l *life) close() {
	l.t.Helper()
	l.sync()
	must(l.t, l.log.Close())
}

// path is where the journal is while it is live.
func (l *life) path() string { return filepath.Join(lifeDir, lifeID+".jsonl") }

// tear leaves what a writer leaves that dies in the middle of a write.
func (l *life) tear() {
	l.t.Helper()
	f, err := l.mem.OpenFile(l.path(), os.O_WRONLY|os.O_APPEND, 0)
	must(l.t, err)
	l.broken = []byte(`{"seq":99,"time":"2026-`)
	_, err = f.Write(l.broken)
	must(l.t, err)
	must(l.t, f.Sync())
}

// diesUnsynced appends as a writer does that is killed before it syncs.
func (l *life) diesUnsynced(padding ...int) {
	l.t.Helper()
	f, err := l.mem.OpenFile(l.path(), os.O_WRONLY|os.O_APPEND, 0)
	must(l.t, err)
	at := l.log.Position()
	for _, p := range padding {
		l.said++
		e, next, err := at.Next(counted(l.said, p))
		must(l.t, err)
		_, err = f.Write(append(e.Line(), '\n'))
		must(l.t, err)
		at = next
	}
	l.kept = l.said
}

// damage changes a byte of the second line, durably.
func (l *life) damage() {
	l.t.Helper()
	data, err := journal.ReadFile(l.mem, l.path(), 1<<30)
	must(l.t, err)
	data[bytes.IndexByte(data, '\n')+300] ^= 1
	f, err := l.mem.OpenFile(l.path(), os.O_WRONLY, 0)
	must(l.t, err)
	_, err = f.Write(data)
	must(l.t, err)
	must(l.t, f.Sync())
	l.damaged, l.lost, l.broken = true, []int{2}, data
}

func (l *life) repair() {
	l.t.Helper()
	l.try("Repair", func() error {
		_, err := l.dir.Repair(lifeID, false)
		return err
	})
	l.damaged = false
}

func (l *life) archive() {
	l.t.Helper()
	l.try("Archive", func() error { return l.dir.Archive(lifeID) })
}

func (l *life) trash() {
	l.t.Helper()
	l.move("Trash", l.dir.Trash, "in the trash", journal.ErrNotFound)
}

func (l *life) restore() {
	l.t.Helper()
	l.copied = !l.move("Restore", l.dir.Restore, "in place", fs.ErrExist)
}

func (l *life) purge() {
	l.t.Helper()
	l.move("Purge", l.dir.Purge, "nowhere")
}

func (l *life) move(what string, do func(id string) error, to string, done ...error) (promised bool) {
	l.t.Helper()
	l.places = append(l.places, to)
	promised = l.try(what, func() error { return do(lifeID) }, done...)
	if promised {
		l.places = []string{to}
	}
	return promised
}

// cut looks at what is left when the power goes, in every way to lose what was
// not synced, and goes on with it. When all is left, it is as if only the
// process had been killed: then what was appended is there without a sync.
func (l *life) cut(when string, parts int, seed uint64) {
	l.t.Helper()
	for kind, image := range l.mem.Images(parts, seed) {
		least := l.synced
		if kind == "all" && !l.disk.Failed() {
			least = l.kept
		}
		// The disk that was right before a promise is wrong behind it.
		known := fmt.Sprintf("%x %d %d %v %v %v %v %d", l.tried.add(image), least, l.said, l.places, l.lost, l.damaged, l.copied, len(l.broken))
		if l.seen[known] {
			continue
		}
		l.seen[known] = true
		if err := l.goOn(image, least); err != nil {
			l.t.Fatalf("%s, of the rest %s: %v\n%s", when, kind, err, l.disk)
		}
	}
}

func (l *life) goOn(image *journaltest.Mem, least int) error {
	dir := memDir(image)
	place, err := l.whereIs(dir)
	if err != nil {
		return err
	}
	if place == "nowhere" && least == 0 {
		return nil
	}
	if !slices.Contains(l.places, place) {
		return fmt.Errorf("the journal is %s, not %s", place, strings.Join(l.places, " or "))
	}
	if place == "nowhere" {
		return nil
	}
	if place == "in the trash" {
		if err := dir.Restore(lifeID); err != nil {
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
	if err := l.inOrder(events, least); err != nil {
		return err
	}
	if err := l.hasAside(image); err != nil {
		return err
	}
	return appendsTo(image, events)
}

// hasAside fails unless what is set aside is there, every byte of it, at any
// moment.
func (l *life) hasAside(image *journaltest.Mem) error {
	if l.broken == nil {
		return nil
	}
	if data, err := journal.ReadFile(image, l.path(), 1<<30); err == nil && bytes.Contains(data, l.broken) {
		return nil
	}
	entries, err := image.ReadDir(lifeDir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), lifeID+".aside-") {
			data, err := journal.ReadFile(image, lifeDir+"/"+entry.Name(), 1<<30)
			if err == nil && bytes.Equal(data, l.broken) {
				return nil
			}
		}
	}
	return fmt.Errorf("the %d bytes that were set aside are lost", len(l.broken))
}

// whereIs says where the journal is, and fails when it is doubled.
func (l *life) whereIs(dir *journal.Dir) (string, error) {
	infos, err := dir.List()
	if err != nil {
		return "", err
	}
	trashed, err := dir.ListTrash()
	switch {
	case err != nil:
		return "", err
	case len(infos) > 1 || len(infos)+len(trashed) > 1 && !l.copied:
		return "", fmt.Errorf("there are %d journals, and %d in the trash", len(infos), len(trashed))
	case len(infos) == 1:
		return "in place", nil
	case len(trashed) == 1:
		return "in the trash", nil
	}
	return "nowhere", nil
}

// readable repairs the journal if it was damaged on purpose. Nothing else may
// be damaged.
func (l *life) readable(dir *journal.Dir) error {
	err := checkAll(dir)
	if corrupt := new(journal.CorruptError); l.damaged && errors.As(err, &corrupt) {
		_, err = dir.Repair(lifeID, false)
	}
	return err
}

func checkAll(dir *journal.Dir) error {
	_, err := readAll(dir)
	return err
}

func readAll(dir *journal.Dir) (events []journal.Event, err error) {
	r, err := dir.Reader(lifeID, journal.Position{})
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

// inOrder reports anything but the numbers from 1 to at least some number, once
// each and in order.
func (l *life) inOrder(events []journal.Event, least int) error {
	var want []int
	got := countedIn(l.t, events)
	for n := 1; n <= l.said && len(want) < max(len(got), least-len(l.lost)); n++ {
		if !slices.Contains(l.lost, n) {
			want = append(want, n)
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the journal counts %v; %d was promised, %d was said", got, least, l.said)
	}
	return nil
}

// appendsTo appends to a journal, cuts the power, and finds it all.
func appendsTo(image *journaltest.Mem, events []journal.Event) error {
	log, err := memDir(image).Open(lifeID)
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
		return fmt.Errorf("there were %d events and %d were appended; after another cut there are %d", len(events), len(added), len(found))
	}
	return noLeftovers(image)
}

func sameLine(a, b journal.Event) bool { return bytes.Equal(a.Line(), b.Line()) }

func noLeftovers(m *journaltest.Mem) error {
	for _, dir := range []string{lifeDir, lifeDir + "/archive"} {
		entries, err := m.ReadDir(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".tmp") {
				return fmt.Errorf("%s is left over", entry.Name())
			}
		}
	}
	return nil
}

// follow follows the journal beside the life, from the beginning again when it
// was replaced or is gone. What it returns ends the following, and returns
// what the last file had that was followed.
func (l *life) follow() (followed func() []journal.Event) {
	var events []journal.Event
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			for e, err := range memDir(l.mem).Follow(ctx, lifeID, journal.Position{}) {
				if err != nil {
					l.followedTo(err)
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

// followedTo fails unless a follower may end with the error.
func (l *life) followedTo(err error) {
	corrupt := new(journal.CorruptError)
	if !errors.Is(err, journal.ErrReplaced) && !errors.Is(err, journal.ErrNotFound) && !errors.As(err, &corrupt) {
		l.t.Error("Follow:", err)
	}
}

// endsSound fails unless everything is there at the end of a life that no
// power cut has interrupted, and the follower saw the same.
func (l *life) endsSound(when string, followed []journal.Event) {
	l.t.Helper()
	if slices.Contains(l.places, "nowhere") {
		return
	}
	events, err := readAll(memDir(l.mem))
	if err == nil {
		err = l.inOrder(events, l.said)
	}
	if err == nil && !slices.EqualFunc(events, followed, sameLine) {
		err = fmt.Errorf("the follower saw %d events of %d", len(followed), len(events))
	}
	if err != nil {
		l.t.Fatalf("%s: %v\n%s", when, err, l.disk)
	}
}
