package journal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// limited returns a Dir of the same directory with another limit.
func limited(dir *journal.Dir, maxLine int) *journal.Dir {
	return journal.NewDir(dir.Path(), journal.Options{FS: noSyncFS{vfs.OS}, Now: atNoon, MaxLine: maxLine})
}

// newLongJournal creates a journal with one line that is much longer than the
// others. It returns the length of that line.
func newLongJournal(t testing.TB, dir *journal.Dir, long, last int) (id string, length int) {
	t.Helper()
	l := mustCreate(t, dir)
	for n := 1; n <= last; n++ {
		padding := 0
		if n == long {
			padding = 1 << 20
		}
		mustAppend(t, l, counted(n, padding))
		must(t, l.Sync())
	}
	must(t, l.Close())
	return l.ID(), len(splitLines(readFile(t, l.Path()))[long-1])
}

// A line that was written under a higher limit is neither a torn tail nor corrupt:
// it must not be set aside.
func TestValidLineOverTheLimitIsReportedAndKept(t *testing.T) {
	for _, long := range []int{1, 3, 6} {
		for _, archived := range []bool{false, true} {
			t.Run(fmt.Sprintf("line %d of 6, archived %v", long, archived), func(t *testing.T) {
				dir := newDir(t)
				id, length := newLongJournal(t, dir, long, 6)
				if archived {
					must(t, dir.Archive(t.Context(), id))
				}
				info, err := dir.Stat(id)
				must(t, err)
				before := readFile(t, info.Path())
				less := limited(dir, length-1)
				for operation, err := range map[string]error{
					"Reader": second(readEvents(less, id)),
					"Open":   second(less.Open(t.Context(), id)),
					"Check":  less.Check(id),
					"Follow": followed(less, id),
				} {
					var corrupt *journal.CorruptError
					if !errors.As(err, &corrupt) || corrupt.TooLong != int64(length) || corrupt.Line != int64(long) {
						t.Errorf("%s: %v", operation, err)
					}
				}
				if !bytes.Equal(readFile(t, info.Path()), before) {
					t.Error("the file was changed")
				}
				events := validEvents(t, limited(dir, length), id)
				if len(events) != 6 {
					t.Errorf("with a sufficient limit it has %d events", len(events))
				}
				end := positions(events)[6]
				if n, err := readBefore(t, limited(dir, length), id, end); err != nil || n != 6 {
					t.Errorf("backwards it has %d events, %v", n, err)
				}
				var corrupt *journal.CorruptError
				if n, err := readBefore(t, less, id, end); n != 6-long || !errors.As(err, &corrupt) ||
					corrupt.Line != int64(long) || !strings.Contains(err.Error(), "too long") {
					t.Errorf("backwards with a lower limit it has %d events, %v", n, err)
				}
			})
		}
	}
}

// readBefore reads the events before a position in reverse order, and counts them.
func readBefore(t *testing.T, dir *journal.Dir, id string, p journal.Position) (n int, err error) {
	t.Helper()
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	for _, err := range r.Before(p) {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func second[T any](_ T, err error) error { return err }

func readEvents(dir *journal.Dir, id string) (events []journal.Event, err error) {
	r, err := dir.Reader(id, journal.Position{})
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

// followed returns the error that ends a Follow.
func followed(dir *journal.Dir, id string) error {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	defer cancel()
	for _, err := range dir.Follow(ctx, id, journal.Position{}) {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

func TestTooLongErrorHasLengthAndLimit(t *testing.T) {
	dir := newDir(t)
	id, length := newLongJournal(t, dir, 2, 3)
	err := second(readEvents(limited(dir, 4096), id))
	want := fmt.Sprintf("line 2 (byte 111) is too long: it has %d bytes, and the limit is 4096", length)
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("the error is %v, want … %s", err, want)
	}
}

func TestSyncedOfALongLineCoversEarlierLines(t *testing.T) {
	dir := newDir(t)
	id, length := newLongJournal(t, dir, 3, 3) // only the third line declares the second synced
	path := filepath.Join(dir.Path(), id+".jsonl")
	lines := splitLines(readFile(t, path))
	lines[1][20] ^= 1
	writeFile(t, path, bytes.Join(lines, nil))
	var corrupt *journal.CorruptError
	if _, err := limited(dir, length-1).Open(t.Context(), id); !errors.As(err, &corrupt) || corrupt.Line != 2 {
		t.Errorf("a corrupt line is taken for a torn tail: %v", err)
	}
}

func TestRepairRefusesValidLinesOverTheLimit(t *testing.T) {
	for line, changed := range map[int]string{1: "before the long line", 5: "after it"} {
		t.Run(changed, func(t *testing.T) {
			dir := newDir(t)
			id, length := newLongJournal(t, dir, 3, 6)
			path := filepath.Join(dir.Path(), id+".jsonl")
			lines := splitLines(readFile(t, path))
			lines[line-1][20] ^= 1
			writeFile(t, path, bytes.Join(lines, nil))
			before := filesIn(t, dir.Path())

			for _, dry := range []bool{true, false} {
				_, err := limited(dir, length-1).Repair(t.Context(), id, nil, dry)
				var corrupt *journal.CorruptError
				if !errors.As(err, &corrupt) || corrupt.TooLong != int64(length) || corrupt.Line != 3 {
					t.Fatalf("the error is %v", err)
				}
			}
			if after := filesIn(t, dir.Path()); !slices.Equal(before, after) ||
				!bytes.Equal(readFile(t, path), bytes.Join(lines, nil)) {
				t.Errorf("something was done: %v", after)
			}
			if done, err := limited(dir, length).Repair(t.Context(), id, nil, false); err != nil || done.Kept != 5 {
				t.Errorf("with the limit it needs: %+v, %v", done, err)
			}
		})
	}
}

func TestHoldsALineOfTheLimit(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 2, 5000)...)
	end := l.Position()
	must(t, l.Close())
	length := len(splitLines(readFile(t, l.Path()))[1])
	for limit, want := range map[int]bool{length: true, length - 1: false} {
		r, err := limited(dir, limit).Reader(l.ID(), journal.Position{})
		must(t, err)
		if got := r.Holds(end); got != want {
			t.Errorf("a line of %d bytes with a limit of %d: %v", length, limit, got)
		}
		must(t, r.Close())
	}
}

func TestRecoveryIsRecordedUnderAnyLimit(t *testing.T) {
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{MaxLine: 1})
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Close())
	appendFile(t, l.Path(), []byte("half"))
	events := mustAppend(t, mustOpen(t, dir, l.ID()), counted(2, 0))
	if recoveredIn(t, events[0]).Bytes != 4 || len(validEvents(t, dir, l.ID())) != 3 {
		t.Errorf("appended %v", events)
	}
}

const (
	smallLimit = 1 << 20
	// enormous is much more than an operation at the small limit may take.
	enormous = 200 << 20
	bounded  = 24 << 20
)

// allocated returns the number of bytes that f allocates, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// endless appends a sparse line of NUL bytes to a journal.
func endless(t *testing.T, path, end string) {
	t.Helper()
	info, err := os.Stat(path)
	must(t, err)
	must(t, os.Truncate(path, info.Size()+enormous))
	appendFile(t, path, []byte(end))
}

// endings are the ends of a line that is too long. Without -full, it has a newline.
func endings() []struct{ name, end string } {
	all := []struct{ name, end string }{{"with a newline", "\n"}, {"without a newline", ""}}
	if !sizetest.Full() {
		return all[:1]
	}
	return all
}

func TestLineWithoutEndNeedsLimitedMemory(t *testing.T) {
	racetest.SkipSequential(t)
	for _, test := range endings() {
		for name, operation := range limitedOperations {
			t.Run(name+" "+test.name, func(t *testing.T) {
				dir := newDir(t)
				id := newJournal(t, dir, 10)
				endless(t, filepath.Join(dir.Path(), id+".jsonl"), test.end)
				if n := allocated(func() { operation(t, limited(dir, smallLimit), id) }); n > bounded {
					t.Errorf("it takes %d MiB at a limit of %d MiB", n>>20, smallLimit>>20)
				}
			})
		}
	}
}

// limitedOperations are the operations that read a whole journal. They must still
// find its events.
var limitedOperations = map[string]func(*testing.T, *journal.Dir, string){
	"Reader": func(t *testing.T, dir *journal.Dir, id string) {
		events, torn, err := read(t, dir, id)
		if len(events) != 15 || torn.Bytes < enormous || err != nil {
			t.Errorf("%d events, torn %+v, %v", len(events), torn, err)
		}
	},
	"Open": func(t *testing.T, dir *journal.Dir, id string) {
		if l := mustOpen(t, dir, id); l.Position().Seq != 15 || l.Torn().Bytes < enormous {
			t.Errorf("opened after %v, torn %+v", l.Position(), l.Torn())
		}
	},
	"Check": func(t *testing.T, dir *journal.Dir, id string) { must(t, dir.Check(id)) },
	"Holds": func(t *testing.T, dir *journal.Dir, id string) {
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		defer r.Close()
		info, err := dir.Stat(id)
		must(t, err)
		if r.Holds(journal.Position{Seq: 16, Offset: info.Size}) {
			t.Error("Holds reports a position after the end")
		}
	},
	"Repair": func(t *testing.T, dir *journal.Dir, id string) {
		path := filepath.Join(dir.Path(), id+".jsonl")
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte("x"), 20)
		must(t, errors.Join(err, f.Close()))
		done, err := dir.Repair(t.Context(), id, nil, true)
		if done.Kept != 14 || len(done.Dropped) != 2 || err != nil {
			t.Errorf("%+v, %v", done, err)
		}
	},
	"Follow": func(t *testing.T, dir *journal.Dir, id string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		// It suffices that the end of the file is reached twice: once by reading,
		// once by examining the long line.
		var ends atomic.Int32
		seen := journal.NewDir(dir.Path(),
			journal.Options{MaxLine: smallLimit, FS: watching{noSyncFS{vfs.OS}, func() {
				if ends.Add(1) == 2 {
					cancel()
				}
			}}})
		n := 0
		for _, err := range seen.Follow(ctx, id, journal.Position{}) {
			must(t, err)
			n++
		}
		if n != 15 {
			t.Errorf("%d events were followed", n)
		}
	},
}

// watching is a file system that reports when the end of a file is read.
type watching struct {
	vfs.FS
	atEnd func()
}

func (w watching) OpenFile(name string, flag int, perm os.FileMode) (vfs.File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	return watchedFile{f, w.atEnd}, err
}

type watchedFile struct {
	vfs.File
	atEnd func()
}

func (w watchedFile) ReadAt(p []byte, off int64) (int, error) {
	n, err := w.File.ReadAt(p, off)
	if err == io.EOF {
		w.atEnd()
	}
	return n, err
}

func TestArchivingNeedsLimitedMemory(t *testing.T) {
	racetest.SkipSequential(t)
	// The header of a frame requests a window; a block contains the number of
	// repetitions of a byte.
	frame := func(window byte) []byte { return []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window} }
	block := []byte{0x02, 0, 0x10, 'x'} // 128 KiB
	last := []byte{0x01, 0, 0}
	for _, test := range []struct {
		name    string
		archive []byte
	}{
		{"a bomb of 200 MiB", slices.Concat(frame(0x68), bytes.Repeat(block, enormous/(128<<10)), last)},
		{"a window of 512 MiB", slices.Concat(frame(0x98), block, last)},
		{"a window of 1 TiB", slices.Concat(frame(0xf0), block, last)},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := limited(newDir(t), smallLimit)
			writeFile(t, filepath.Join(dir.Path(), "archive", fuzzed+".jsonl.zst"), test.archive)
			if n := allocated(func() {
				_, _, err := read(t, dir, fuzzed)
				if corrupt := new(journal.CorruptError); !errors.As(err, &corrupt) {
					t.Error(err)
				}
			}); n > 2*bounded {
				t.Errorf("reading it takes %d MiB", n>>20)
			}
		})
	}
}

func TestLargeLockAndTimeFilesAreNotRead(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 3)
	l := mustOpen(t, dir, id)
	must(t, os.Truncate(filepath.Join(dir.Path(), id+".lock"), enormous))
	if n := allocated(func() {
		var locked *journal.LockedError
		if _, err := dir.Open(t.Context(), id); !errors.As(err, &locked) || locked.Holder != (journal.Holder{}) {
			t.Error(err)
		}
	}); n > bounded {
		t.Errorf("the lock file takes %d MiB", n>>20)
	}
	must(t, l.Close())
	must(t, trash.Of(dir).Move(t.Context(), id))
	must(t, os.Truncate(filepath.Join(dir.Path(), "trash", id+".trashed"), enormous))
	if n := allocated(func() {
		if list, err := trash.Of(dir).List(); err != nil || len(list) != 1 || !list[0].Since.IsZero() {
			t.Errorf("%v, %v", list, err)
		}
	}); n > bounded {
		t.Errorf("the date takes %d MiB", n>>20)
	}
}

func TestReadingAnArchiveNeedsLimitedMemory(t *testing.T) {
	racetest.SkipSequential(t)
	for _, test := range endings() {
		packed := newDir(t)
		id := newJournal(t, packed, 10)
		path := filepath.Join(packed.Path(), id+".jsonl")
		endless(t, path, test.end)
		pack(t, path, archivePath(packed, id))
		must(t, os.Remove(path))
		for name, operation := range map[string]func(*testing.T, *journal.Dir) error{
			"Reader": func(t *testing.T, dir *journal.Dir) error {
				_, _, err := read(t, dir, id)
				return err
			},
			"Open": func(t *testing.T, dir *journal.Dir) error {
				_, err := dir.Open(t.Context(), id)
				return err
			},
			"Check": func(t *testing.T, dir *journal.Dir) error { return dir.Check(id) },
		} {
			t.Run(name+" "+test.name, func(t *testing.T) {
				dir := newDir(t)
				must(t, os.CopyFS(dir.Path(), os.DirFS(packed.Path())))
				var corrupt *journal.CorruptError
				if n := allocated(func() {
					// Every line of an archive counts as synced: the end is no torn tail.
					if err := operation(t, limited(dir, smallLimit)); !errors.As(err, &corrupt) || corrupt.Line != 16 {
						t.Error(err)
					}
				}); n > 4*bounded {
					t.Errorf("it takes %d MiB", n>>20)
				}
			})
		}
	}
}

// pack compresses a file as another program would.
func pack(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	must(t, err)
	defer in.Close()
	must(t, os.MkdirAll(filepath.Dir(to), 0o700))
	out, err := os.Create(to)
	must(t, err)
	defer out.Close()
	enc, err := zstd.NewWriter(out, zstd.WithEncoderConcurrency(1))
	must(t, err)
	_, err = io.Copy(enc, in)
	must(t, errors.Join(err, enc.Close()))
}
