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
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// Whatever happens to a journal, between two steps of a follower or during one: the
// follower delivers the journal, each event once and in order, or ends with the
// error that describes the change of the history.
func FuzzFollow(f *testing.F) {
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, script []byte) {
		newSimulation(t, script).run()
	})
}

func TestFollowUnderRandomOperations(t *testing.T) {
	t.Parallel()
	seeds := uint64(60)
	if !sizetest.Full() {
		seeds = 20
	}
	for seed := range seeds {
		random := rand.New(rand.NewPCG(seed, 0))
		script := make([]byte, 40)
		for i := range script {
			script[i] = byte(random.Uint32())
			if seed%2 == 0 && changesHistory(script[i]) {
				script[i] |= 15 // half of the scripts keep the history
			}
		}
		newSimulation(t, script).run()
		if t.Failed() {
			t.Fatalf("seed %d: %q", seed, script)
		}
	}
}

func changesHistory(op byte) bool {
	op &= 15
	return op == 8 || op == 10 || op == 13
}

// simulation performs operations on a journal and follows it. A script lists the
// operations, one per byte.
type simulation struct {
	t      testing.TB
	script []byte

	disk      *journaltest.FS
	dir       *journal.Dir
	id        string
	path      string
	log       *journal.Log // nil: none is open
	counted   int
	other     [][]byte // lines of another history
	created   bool
	trashed   bool
	corrupted bool

	stepper   *journal.Stepper
	inside    int // operations to perform during the next step
	delivered []journal.Event
	err       error          // that ended the follower
	allowed   map[error]bool // errors that the operations may cause
}

var errCorrupt = errors.New("a CorruptError")

func newSimulation(t testing.TB, script []byte) *simulation {
	w := &simulation{t: t, script: script, disk: journaltest.New(noSyncFS{vfs.OS}), allowed: map[error]bool{}}
	w.disk.HalfWrites(true)
	w.dir = journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: w.disk, Now: atNoon})
	w.id = w.dir.NewID()
	w.path = filepath.Join(w.dir.Path(), w.id+".jsonl")

	elsewhere := newDir(t)
	other := newJournal(t, elsewhere, 7)
	w.other = splitLines(readFile(t, filepath.Join(elsewhere.Path(), other+".jsonl")))

	between := &hooks{FS: vfs.OS, stat: func(string) { w.interrupt() },
		readAt: func(string, int64) { w.interrupt() }}
	w.stepper = journal.NewDir(w.dir.Path(), journal.Options{FS: between}).NewStepper(w.id, journal.Position{})
	return w
}

// run runs the script, repairs the journal, and lets the follower reach its end.
func (w *simulation) run() {
	w.t.Helper()
	for len(w.script) > 0 && !w.t.Failed() {
		w.act()
		w.compare()
	}
	w.restore()
	w.repair()
	w.append(1, 0)
	w.close()
	for range 5 { // a file that is closed in one step is opened in the next
		w.step(1<<20, 0)
	}
	w.stepper.Close()
	if w.err == nil {
		same(w.t, "followed", w.delivered, validEvents(w.t, w.dir, w.id))
	}
}

func (w *simulation) act() {
	op, n := w.script[0]&15, int(w.script[0]>>4)
	w.script = w.script[1:]
	switch op {
	case 0, 1:
		w.append(n+1, 10)
	case 2:
		w.append(1, n*1500)
	case 3:
		w.failWrite(n)
	case 4:
		w.failSync()
	case 5:
		w.close()
	case 6:
		w.tear(n)
	case 7:
		w.archive()
	case 8:
		w.trash()
	case 9:
		w.restore()
	case 10:
		w.corrupt(n)
	case 11:
		w.repair()
	case 12:
		w.put(readOrNothing(w.path))
	case 13:
		w.replace(n)
	case 14:
		w.step(1+n, 0)
	case 15:
		w.step(1<<20, n)
	}
}

// interrupt performs an operation during a step.
func (w *simulation) interrupt() {
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

// compare compares what was delivered with the journal.
func (w *simulation) compare() {
	w.t.Helper()
	if w.err != nil || len(w.allowed) > 0 || !w.created {
		return
	}
	events, _, err := read(w.t, w.dir, w.id)
	must(w.t, err)
	if len(w.delivered) > len(events) {
		w.t.Fatalf("%d events were delivered, the journal has %d", len(w.delivered), len(events))
	}
	same(w.t, "compared", w.delivered, events[:len(w.delivered)])
}

func (w *simulation) step(limit, inside int) {
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
		w.expect(errCorrupt)
	case errors.Is(err, journal.ErrReplaced):
		w.expect(journal.ErrReplaced)
	case errors.Is(err, journal.ErrNotFound):
		w.expect(journal.ErrNotFound)
	default:
		w.t.Errorf("it ended with %v", err)
	}
}

func (w *simulation) expect(kind error) {
	w.t.Helper()
	if !w.allowed[kind] {
		w.t.Errorf("after %d events it ended with an unexpected error: %v", len(w.delivered), w.err)
	}
}

// open opens the journal for writing, if possible.
func (w *simulation) open() bool {
	if w.log == nil && !w.trashed {
		if w.created {
			w.log, _ = w.dir.Open(w.t.Context(), w.id) // fails if it is corrupt
		} else {
			w.log, _ = w.dir.Create(w.id)
		}
		w.created = w.created || w.log != nil
	}
	return w.log != nil
}

func (w *simulation) append(n, padding int) {
	w.t.Helper()
	if !w.open() {
		return
	}
	mustAppend(w.t, w.log, batch(w.counted+1, w.counted+n, padding)...)
	w.counted += n
}

func (w *simulation) close() {
	if w.log != nil {
		w.log.Close()
		w.log = nil
	}
}

// failWrite makes a write fail halfway. The writer recovers, or dies.
func (w *simulation) failWrite(n int) {
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
		_, err := w.log.Recover(w.t.Context())
		must(w.t, err)
	} else {
		w.close()
	}
}

// failSync makes a sync fail, so that the writer replaces the file.
func (w *simulation) failSync() {
	w.t.Helper()
	w.append(1, 0)
	if w.log == nil {
		return
	}
	w.disk.Fail(1, syscall.EIO, journaltest.Sync)
	if err := w.log.Sync(); !errors.Is(err, journal.ErrPoisoned) {
		w.t.Errorf("the sync failed with %v", err)
	}
	_, err := w.log.Recover(w.t.Context())
	must(w.t, err)
}

// tear appends a torn tail.
func (w *simulation) tear(how int) {
	w.close()
	if !w.isLive() {
		return
	}
	nuls := make([]byte, 4096)
	tails := [][]byte{
		[]byte(`{"seq":`), nuls, append([]byte(`{"seq":1,"ti`), nuls...), append(nuls[:7:7], '\n'),
		w.other[1], bytes.Join(w.other[1:3], nuls),
	}
	appendFile(w.t, w.path, tails[how%len(tails)])
}

func (w *simulation) isLive() bool {
	_, err := os.Stat(w.path)
	return err == nil
}

func (w *simulation) archive() {
	w.close()
	if w.created && !w.trashed && !w.corrupted {
		must(w.t, w.dir.Archive(w.t.Context(), w.id))
	}
}

func (w *simulation) trash() {
	w.close()
	if w.created && !w.trashed {
		must(w.t, trash.Of(w.dir).Move(w.t.Context(), w.id))
		w.trashed = true
		w.allowed[journal.ErrNotFound] = true
	}
}

func (w *simulation) restore() {
	if w.trashed {
		must(w.t, trash.Of(w.dir).Restore(w.t.Context(), w.id))
		w.trashed = false
	}
}

// corrupt changes one byte of a line.
func (w *simulation) corrupt(line int) {
	w.close()
	lines := splitLines(readOrNothing(w.path))
	if len(lines) < 2 {
		return
	}
	changed := lines[line%len(lines)]
	changed[len(changed)/2] ^= 1
	writeFile(w.t, w.path, bytes.Join(lines, nil))
	w.corrupted = true
	w.allowed[errCorrupt], w.allowed[journal.ErrReplaced] = true, true
}

func (w *simulation) repair() {
	w.close()
	if !w.isLive() {
		return
	}
	_, err := w.dir.Repair(w.t.Context(), w.id, nil, false)
	must(w.t, err)
	w.corrupted = false
}

// replace replaces the journal by a prefix of another history.
func (w *simulation) replace(n int) {
	if !w.isLive() {
		return
	}
	w.put(bytes.Join(w.other[:n%len(w.other)], nil))
	w.corrupted = false
	w.allowed[journal.ErrReplaced] = true
}

// put replaces the journal by a file with the given content.
func (w *simulation) put(content []byte) {
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
