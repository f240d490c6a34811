package journal_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

// Whatever is done to a journal, between any two looks of a follower or in the
// middle of one: it delivers the journal, each event once and in order, or ends
// with the error that says how the history was changed.
func FuzzFollow(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, script []byte) {
		newWorld(t, script).play()
	})
}

func TestFollowUnderRandomOperations(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		random := rand.New(rand.NewPCG(seed, 0))
		script := make([]byte, 40)
		for i := range script {
			script[i] = byte(random.Uint32())
			if seed%2 == 0 && changesHistory(script[i]) {
				script[i] |= 15 // half of the scripts leave no excuse
			}
		}
		newWorld(t, script).play()
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, script)
		}
	}
}

func changesHistory(deed byte) bool {
	deed &= 15
	return deed == 8 || deed == 10 || deed == 13
}

// world is a journal, what is done to it and one who follows it. A script does
// it, one byte a deed.
type world struct {
	t      testing.TB
	script []byte

	disk    *journaltest.FS
	dir     *journal.Dir
	id      string
	path    string
	log     *journal.Log // nil: nobody writes
	counted int
	other   [][]byte // the lines of another history
	created bool
	trashed bool
	damaged bool

	stepper   *journal.Stepper
	inside    int // deeds that are done in the middle of the follower's next looks
	delivered []journal.Event
	err       error          // with which the follower ended
	excused   map[error]bool // the errors for which there is a cause
}

var errDamaged = errors.New("a CorruptError")

func newWorld(t testing.TB, script []byte) *world {
	w := &world{t: t, script: script, disk: journaltest.New(quick{journal.OS}), excused: map[error]bool{}}
	w.disk.HalfWrites(true)
	w.dir = journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: w.disk, Now: atNoon})
	w.id = w.dir.NewID()
	w.path = filepath.Join(w.dir.Path(), w.id+".jsonl")

	elsewhere := newDir(t)
	other := newJournal(t, elsewhere, 7)
	w.other = splitLines(readFile(t, filepath.Join(elsewhere.Path(), other+".jsonl")))

	between := &hooks{FS: journal.OS, stat: func(string) { w.interrupt() }, readAt: func(string, int64) { w.interrupt() }}
	w.stepper = journal.NewDir(w.dir.Path(), journal.Options{FS: between}).NewStepper(w.id, journal.Position{})
	return w
}

// play runs the script, mends what is broken, and lets the follower come to the
// end.
func (w *world) play() {
	w.t.Helper()
	for len(w.script) > 0 && !w.t.Failed() {
		w.act()
		w.compare()
	}
	w.restore()
	w.repair()
	w.append(1, 0)
	w.close()
	for range 5 { // a file that is closed at one look is opened at the next
		w.step(1<<20, 0)
	}
	w.stepper.Close()
	if w.err == nil {
		same(w.t, "followed", w.delivered, sound(w.t, w.dir, w.id))
	}
}

func (w *world) act() {
	deed, much := w.script[0]&15, int(w.script[0]>>4)
	w.script = w.script[1:]
	switch deed {
	case 0, 1:
		w.append(much+1, 10)
	case 2:
		w.append(1, much*1500)
	case 3:
		w.failWrite(much)
	case 4:
		w.failSync()
	case 5:
		w.close()
	case 6:
		w.tear(much)
	case 7:
		w.archive()
	case 8:
		w.trash()
	case 9:
		w.restore()
	case 10:
		w.damage(much)
	case 11:
		w.repair()
	case 12:
		w.put(readOrNothing(w.path))
	case 13:
		w.replace(much)
	case 14:
		w.step(1+much, 0)
	case 15:
		w.step(1<<20, much)
	}
}

// interrupt does a deed in the middle of a look.
func (w *world) interrupt() {
	if w.inside == 0 || len(w.script) == 0 {
		return
	}
	w.inside--
	if w.script[0]&15 >= 14 {
		w.script = w.script[1:]
		return
	}
	w.act()
}

// compare looks at a follower that is at rest.
func (w *world) compare() {
	w.t.Helper()
	if w.err != nil || len(w.excused) > 0 || !w.created {
		return
	}
	events, _, err := read(w.t, w.dir, w.id)
	must(w.t, err)
	if len(w.delivered) > len(events) {
		w.t.Fatalf("%d events were delivered, there are %d", len(w.delivered), len(events))
	}
	same(w.t, "at rest", w.delivered, events[:len(w.delivered)])
}

func (w *world) step(limit, inside int) {
	w.t.Helper()
	if w.err != nil {
		return
	}
	w.inside = inside
	events, err := w.stepper.Step(limit)
	w.inside = 0
	w.delivered = append(w.delivered, events...)
	w.err = err
	var corrupt *journal.CorruptError
	switch {
	case err == nil:
	case errors.As(err, &corrupt):
		w.expect(errDamaged)
	case errors.Is(err, journal.ErrReplaced):
		w.expect(journal.ErrReplaced)
	case errors.Is(err, journal.ErrNotFound):
		w.expect(journal.ErrNotFound)
	default:
		w.t.Errorf("it ended with %v", err)
	}
}

func (w *world) expect(kind error) {
	w.t.Helper()
	if !w.excused[kind] {
		w.t.Errorf("behind %d events it ended without a cause: %v", len(w.delivered), w.err)
	}
}

// open is the writer, as far as there can be one.
func (w *world) open() bool {
	if w.log == nil && !w.trashed {
		open := w.dir.Open
		if !w.created {
			open = w.dir.Create
		}
		w.log, _ = open(w.id) // what is damaged has no writer
		w.created = w.created || w.log != nil
	}
	return w.log != nil
}

func (w *world) append(n, padding int) {
	w.t.Helper()
	if !w.open() {
		return
	}
	mustAppend(w.t, w.log, batch(w.counted+1, w.counted+n, padding)...)
	w.counted += n
}

func (w *world) close() {
	if w.log != nil {
		w.log.Close()
		w.log = nil
	}
}

// failWrite lets a batch arrive in part. The writer recovers, or dies.
func (w *world) failWrite(n int) {
	w.t.Helper()
	w.append(1, 0)
	if w.log == nil {
		return
	}
	w.disk.Fail(1, syscall.ENOSPC, journaltest.Write)
	_, err := w.log.Append(batch(w.counted+1, w.counted+1+n, 10)...)
	w.counted += n + 1
	if !errors.Is(err, journal.ErrPoisoned) {
		w.t.Errorf("the write failed with %v", err)
	}
	if n%2 == 0 {
		_, err := w.log.Recover()
		must(w.t, err)
	} else {
		w.close()
	}
}

// failSync lets the writer put a new file in the place of the old one.
func (w *world) failSync() {
	w.t.Helper()
	w.append(1, 0)
	if w.log == nil {
		return
	}
	w.disk.Fail(1, syscall.EIO, journaltest.Sync)
	if err := w.log.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		w.t.Errorf("the sync failed with %v", err)
	}
	_, err := w.log.Recover()
	must(w.t, err)
}

// tear leaves what a crash leaves behind the last line.
func (w *world) tear(how int) {
	w.close()
	if !w.isLive() {
		return
	}
	nuls := make([]byte, 4096)
	tails := [][]byte{[]byte(`{"seq":`), nuls, append([]byte(`{"seq":1,"ti`), nuls...), append(nuls[:7:7], '\n'), w.other[1], bytes.Join(w.other[1:3], nuls)}
	appendFile(w.t, w.path, tails[how%len(tails)])
}

func (w *world) isLive() bool {
	_, err := os.Stat(w.path)
	return err == nil
}

func (w *world) archive() {
	w.close()
	if w.created && !w.trashed && !w.damaged {
		must(w.t, w.dir.Archive(w.id))
	}
}

func (w *world) trash() {
	w.close()
	if w.created && !w.trashed {
		must(w.t, w.dir.Trash(w.id))
		w.trashed = true
		w.excused[journal.ErrNotFound] = true
	}
}

func (w *world) restore() {
	if w.trashed {
		must(w.t, w.dir.Restore(w.id))
		w.trashed = false
	}
}

// damage changes one byte of a line.
func (w *world) damage(line int) {
	w.close()
	lines := splitLines(readOrNothing(w.path))
	if len(lines) < 2 {
		return
	}
	changed := lines[line%len(lines)]
	changed[len(changed)/2] ^= 1
	writeFile(w.t, w.path, bytes.Join(lines, nil))
	w.damaged = true
	w.excused[errDamaged], w.excused[journal.ErrReplaced] = true, true
}

func (w *world) repair() {
	w.close()
	if !w.isLive() {
		return
	}
	_, err := w.dir.Repair(w.id, false)
	must(w.t, err)
	w.damaged = false
}

// replace puts the beginning of another history in the place of the journal.
func (w *world) replace(n int) {
	if !w.isLive() {
		return
	}
	w.put(bytes.Join(w.other[:n%len(w.other)], nil))
	w.damaged = false
	w.excused[journal.ErrReplaced] = true
}

// put makes a new file with a content the journal's.
func (w *world) put(content []byte) {
	w.close()
	if !w.isLive() {
		return
	}
	writeFile(w.t, w.path+".new", content)
	must(w.t, os.Rename(w.path+".new", w.path))
}

func readOrNothing(path string) []byte {
	content, _ := os.ReadFile(path)
	return content
}
