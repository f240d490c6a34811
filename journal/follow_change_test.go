package journal_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// changing is a journal file with the first lines of a complete journal, and a
// follower that has read them.
type changing struct {
	t       *testing.T
	dir     *journal.Dir
	id      string
	path    string
	lines   [][]byte // of the complete journal
	other   [][]byte // of another history, which is longer
	events  []journal.Event
	stepper *journal.Stepper
}

func newChanging(t *testing.T, read int) *changing {
	f := &changing{t: t, dir: newDir(t)}
	complete, other := newDir(t), newDir(t)
	f.id = newJournal(t, complete, 0)
	f.events = validEvents(t, complete, f.id)
	f.lines = splitLines(readFile(t, filepath.Join(complete.Path(), f.id+".jsonl")))
	otherID := newJournal(t, other, 1)
	l := mustOpen(t, other, otherID)
	mustAppend(t, l, batch(16, 30, 40)...)
	must(t, l.Close())
	f.other = splitLines(readFile(t, filepath.Join(other.Path(), otherID+".jsonl")))

	f.path = filepath.Join(f.dir.Path(), f.id+".jsonl")
	writeFile(t, f.path, bytes.Join(f.lines[:read], nil))
	f.stepper = f.dir.NewStepper(f.id, journal.Position{})
	t.Cleanup(f.stepper.Close)
	f.expect(f.events[:read]...)
	return f
}

// maxSteps is the number of steps in which every change is detected: a file that is
// closed in one step is opened in the next.
const maxSteps = 3

func (f *changing) step() (events []journal.Event, err error) {
	for range maxSteps {
		var more []journal.Event
		if more, err = f.stepper.Step(1 << 20); err != nil {
			return append(events, more...), err
		}
		events = append(events, more...)
	}
	return events, nil
}

func (f *changing) expect(want ...journal.Event) {
	f.t.Helper()
	got, err := f.step()
	must(f.t, err)
	same(f.t, "followed", got, want)
}

// rewrite changes the content of the file in place.
func (f *changing) rewrite(content ...[]byte) { writeFile(f.t, f.path, bytes.Join(content, nil)) }

// replace replaces the file by another one.
func (f *changing) replace(content ...[]byte) {
	writeFile(f.t, f.path+".new", bytes.Join(content, nil))
	must(f.t, os.Rename(f.path+".new", f.path))
}

// append appends an event, as the next writer does.
func (f *changing) append() []journal.Event {
	l := mustOpen(f.t, f.dir, f.id)
	events := mustAppend(f.t, l, counted(99, 0))
	must(f.t, l.Close())
	return events
}

var nulPage = make([]byte, 4096)

// changes are changes of a file whose lines a follower has delivered.
var changes = map[string]struct {
	corrupt func(*changing)
	want    error // nil: it continues
}{
	"nothing": {func(*changing) {}, nil},

	"emptied":                     {func(f *changing) { f.rewrite() }, journal.ErrReplaced},
	"truncated between two lines": {func(f *changing) { f.rewrite(f.lines[:7]...) }, journal.ErrReplaced},
	"truncated in a line": {func(f *changing) {
		f.rewrite(append(f.lines[:7:7],
			f.lines[7][:9])...)
	}, journal.ErrReplaced},
	"truncated in the last line": {func(f *changing) {
		f.rewrite(append(f.lines[:14:14],
			f.lines[14][:5])...)
	}, journal.ErrReplaced},
	"truncated, then grown with NULs": {func(f *changing) {
		f.rewrite(append(f.lines[:7:7],
			nulPage)...)
	}, journal.ErrReplaced},
	"truncated, then grown with a NUL line": {func(f *changing) {
		f.rewrite(append(f.lines[:7:7], nulPage,
			[]byte("\n"))...)
	}, journal.ErrReplaced},

	"rewritten unchanged": {func(f *changing) { f.rewrite(f.lines...) }, nil},
	"rewritten unchanged, and torn": {func(f *changing) {
		f.rewrite(append(slices.Clone(f.lines),
			nulPage)...)
	}, nil},
	"rewritten by another, shorter": {func(f *changing) { f.rewrite(f.other[:7]...) }, journal.ErrReplaced},
	"rewritten by another, longer":  {func(f *changing) { f.rewrite(f.other...) }, journal.ErrReplaced},
	"rewritten by something else": {func(f *changing) {
		f.rewrite(bytes.Repeat([]byte("what?\n"),
			4096))
	}, journal.ErrReplaced},
	"rewritten by NULs": {func(f *changing) { f.rewrite(nulPage, nulPage) }, journal.ErrReplaced},

	"replaced by itself": {func(f *changing) { f.replace(f.lines...) }, nil},
	"replaced by itself, and torn": {func(f *changing) {
		f.replace(append(slices.Clone(f.lines),
			nulPage)...)
	}, nil},
	"replaced by a prefix": {func(f *changing) { f.replace(f.lines[:14]...) }, journal.ErrReplaced},
	"replaced by a prefix, torn": {func(f *changing) {
		f.replace(append(f.lines[:7:7], nulPage,
			[]byte("\n"))...)
	}, journal.ErrReplaced},
	"replaced by another, shorter": {func(f *changing) { f.replace(f.other[:7]...) }, journal.ErrReplaced},
	"replaced by another, longer":  {func(f *changing) { f.replace(f.other...) }, journal.ErrReplaced},
	"replaced by nothing":          {func(f *changing) { f.replace() }, journal.ErrReplaced},
	"with an incomplete line": {func(f *changing) {
		f.rewrite(append(slices.Clone(f.lines),
			[]byte("{"))...)
	}, nil},

	"removed": {func(f *changing) { must(f.t, os.Remove(f.path)) }, journal.ErrNotFound},
	"in the trash": {func(f *changing) { must(f.t, trash.Of(f.dir).Move(f.t.Context(), f.id)) },
		journal.ErrNotFound},
	"purged": {func(f *changing) {
		must(f.t, trash.Of(f.dir).Move(f.t.Context(), f.id))
		must(f.t,
			trash.Of(f.dir).Purge(f.id))
	}, journal.ErrNotFound},
	"the directory removed": {func(f *changing) { must(f.t, os.RemoveAll(f.dir.Path())) }, journal.ErrNotFound},
	"trashed and restored": {func(f *changing) {
		must(f.t, trash.Of(f.dir).Move(f.t.Context(), f.id))
		must(f.t, trash.Of(f.dir).Restore(f.t.Context(), f.id))
	}, nil},
	"archived": {func(f *changing) { must(f.t, f.dir.Archive(f.t.Context(), f.id)) }, nil},
	"archived, then trashed": {func(f *changing) {
		must(f.t, f.dir.Archive(f.t.Context(), f.id))
		must(f.t, trash.Of(f.dir).Move(f.t.Context(), f.id))
	}, journal.ErrNotFound},
	"archived, trashed, restored": {func(f *changing) {
		must(f.t, f.dir.Archive(f.t.Context(), f.id))
		must(f.t, trash.Of(f.dir).Move(f.t.Context(), f.id))
		must(f.t, trash.Of(f.dir).Restore(f.t.Context(), f.id))
	}, nil},

	"repaired where it was read": {func(f *changing) {
		f.corrupt(3)
		f.repair()
	}, journal.ErrReplaced},
	"repaired, nothing to do": {func(f *changing) { f.repair() }, nil},
}

func TestFollowDetectsChangesOfDeliveredLines(t *testing.T) {
	for name, test := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newChanging(t, 15)
			test.corrupt(f)
			if test.want == nil {
				f.expect()
				f.expect(f.append()...)
				return
			}
			events, err := f.step()
			if !errors.Is(err, test.want) || len(events) > 0 {
				t.Errorf("%d events and %v, want %v", len(events), err, test.want)
			}
		})
	}
}

// corrupt changes a byte in the middle of a line, from 1.
func (f *changing) corrupt(line int) {
	data := readFile(f.t, f.path)
	lines := splitLines(data)
	lines[line-1][len(lines[line-1])/2] ^= 1
	f.rewrite(lines...)
}

func (f *changing) repair() {
	_, err := f.dir.Repair(f.t.Context(), f.id, nil, false)
	must(f.t, err)
}

func TestFollowStopsBeforeCorruption(t *testing.T) {
	f := newChanging(t, 5)
	f.rewrite(f.lines...)
	f.corrupt(8)
	got, err := f.step()
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Line != 8 || corrupt.Path != f.path {
		t.Errorf("error %v", err)
	}
	same(t, "before it", got, f.events[5:7])
}

func TestFollowContinuesAfterRepairOfLaterLines(t *testing.T) {
	f := newChanging(t, 5)
	f.rewrite(f.lines...)
	f.corrupt(8)
	f.repair()
	f.expect(validEvents(t, f.dir, f.id)[5:]...)
	f.expect(f.append()...)
}

// Corruption that has been repaired meanwhile does not end a follower that has the
// corrupt file open.
func TestFollowContinuesDuringRepair(t *testing.T) {
	f := newChanging(t, 15)
	f.corrupt(8)
	repaired := false
	disk := &hooks{FS: vfs.OS, readAt: func(_ string, end int64) {
		if end > 0 && !repaired {
			repaired = true
			f.repair()
		}
	}}
	f.stepper = journal.NewDir(f.dir.Path(), journal.Options{FS: disk}).NewStepper(f.id, journal.Position{})
	defer f.stepper.Close()
	got, err := f.step()
	must(t, err)
	same(t, "followed", got, validEvents(t, f.dir, f.id))
	if !repaired {
		t.Error("nothing was repaired")
	}
}

func TestCorruptArchiveEndsFollow(t *testing.T) {
	for name, corrupt := range map[string]func([]byte) []byte{
		"cut short":     func(b []byte) []byte { return b[:len(b)-5] },
		"a byte is off": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"no archive":    func([]byte) []byte { return []byte("what?") },
	} {
		t.Run(name, func(t *testing.T) {
			f := newChanging(t, 15)
			must(t, f.dir.Archive(f.t.Context(), f.id))
			archive := filepath.Join(f.dir.Path(), "archive", f.id+".jsonl.zst")
			writeFile(t, archive, corrupt(readFile(t, archive)))
			events, err := f.step()
			var corrupt *journal.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Path != archive || len(events) > 0 {
				t.Errorf("%d events and %v", len(events), err)
			}
		})
	}
}

// The size and the file stay the same, and the time of the change does not.
func TestFollowReadsAnArchiveThatIsRewrittenInPlace(t *testing.T) {
	f := newChanging(t, 15)
	must(t, f.dir.Archive(t.Context(), f.id))
	f.expect()
	archive := archivePath(f.dir, f.id)
	data := readFile(t, archive)
	data[len(data)/2] ^= 1
	writeFile(t, archive, data)
	must(t, os.Chtimes(archive, noon, noon))
	_, err := f.step()
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || corrupt.Path != archive {
		t.Errorf("error %v", err)
	}
}

// The sync mark of a line that was delivered makes its duplicate corrupt, also after an
// incomplete line in place of the duplicate.
func TestFollowKeepsSyncMarksAfterAnIncompleteLine(t *testing.T) {
	dir := newDir(t)
	id := dir.NewID()
	first, sum := lineOf(1, 0, 0)
	second, _ := lineOf(2, 2, sum)
	path := filepath.Join(dir.Path(), id+".jsonl")
	lines := first + "\n" + second + "\n"
	writeFile(t, path, []byte(lines+"{"))
	stepper := dir.NewStepper(id, journal.Position{})
	defer stepper.Close()
	if events, err := stepper.Step(10); err != nil || len(events) != 2 {
		t.Fatalf("%d events, %v", len(events), err)
	}
	writeFile(t, path, []byte(lines+second+"\n"))
	_, _, want := read(t, dir, id)
	events, err := stepper.Step(10)
	var corrupt *journal.CorruptError
	if !errors.As(err, &corrupt) || err.Error() != want.Error() || len(events) > 0 {
		t.Errorf("%d events, %v, want %v", len(events), err, want)
	}
}

func TestFollowOfADeletedJournalEnds(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	at := positionAfter(t, dir, id, 7)
	must(t, trash.Of(dir).Move(t.Context(), id))
	if err := follow(t, dir, id, at).end(); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("error %v", err)
	}
}

func TestFollowSurvivesARecreatedDirectory(t *testing.T) {
	for name, way := range notificationModes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			must(t, os.MkdirAll(dir.Path(), 0o700))
			id := dir.NewID()
			looked := make(chan struct{})
			disk := &hooks{FS: vfs.OS, stat: func(string) { closeOnce(looked) }}
			f := follow(t, way(journal.NewDir(dir.Path(), journal.Options{FS: disk})), id, journal.Position{})
			written := make(chan []journal.Event, 1)
			go func() {
				<-looked
				must(t, os.Remove(dir.Path()))
				l, err := dir.Create(id)
				must(t, err)
				written <- mustAppend(t, l, batch(1, 3, 0)...)
				must(t, l.Close())
			}()
			first, err, ok := f.next()
			if err != nil || !ok {
				t.Fatal("no event:", err)
			}
			events := <-written
			same(t, "the first", []journal.Event{first}, events[:1])
			f.expect(events[1:]...)
		})
	}
}
