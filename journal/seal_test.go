package journal_test

import (
	"bytes"
	stdcmp "cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// marks returns the sync marks of events; 0 is none.
func marks(events []journal.Event) (synced []uint64) {
	for _, e := range events {
		synced = append(synced, e.Synced)
	}
	return synced
}

func TestSealMarksEveryLine(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	if sealed, err := l.Seal(); err != nil || len(sealed) > 0 {
		t.Errorf("without events, Seal appended %v, %v", sealed, err)
	}
	mustAppend(t, l, batch(1, 3, 0)...)
	sealed, err := l.Seal()
	if err != nil || len(sealed) != 1 || sealed[0].Type != journal.TypeSealed || string(sealed[0].Data) != "{}" {
		t.Fatalf("Seal appended %+v, %v", sealed, err)
	}
	if again, err := l.Seal(); err != nil || len(again) > 0 {
		t.Errorf("a second Seal appended %v, %v", again, err)
	}
	mustAppend(t, l, counted(5, 0))
	if again, err := l.Seal(); err != nil || len(again) > 0 {
		t.Errorf("after a batch of one line, Seal appended %v, %v", again, err)
	}
	mustAppend(t, l, batch(6, 7, 0)...)
	if again, err := l.Seal(); err != nil || len(again) != 1 {
		t.Errorf("after a batch of two lines, Seal appended %v, %v", again, err)
	}
	must(t, l.Close())
	if diff := cmp.Diff([]uint64{0, 0, 0, 3, 4, 5, 0, 7}, marks(validEvents(t, dir, l.ID()))); diff != "" {
		t.Errorf("sync marks (-want +got):\n%s", diff)
	}
}

func TestSealOfOpenedJournal(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(path string)
		want   []uint64
	}{
		"without marks at the end": {func(string) {}, []uint64{0, 0, 0, 3, 0, 0, 6}},
		"with a torn tail": {func(path string) {
			appendFile(t, path, []byte(`{"seq":7,"half`))
		}, []uint64{0, 0, 0, 3, 0, 0, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := newDir(t)
			l := mustCreate(t, dir)
			mustAppend(t, l, batch(1, 3, 0)...)
			must(t, l.Sync())
			mustAppend(t, l, batch(4, 6, 0)...)
			must(t, l.Close())
			c.damage(l.Path())
			l = mustOpen(t, dir, l.ID())
			events, err := l.Seal()
			if err != nil || len(events) != 1 {
				t.Fatalf("Seal appended %+v, %v", events, err)
			}
			must(t, l.Close())
			if diff := cmp.Diff(c.want, marks(validEvents(t, dir, l.ID()))); diff != "" {
				t.Errorf("sync marks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSealOfJournalWithoutWriter(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	for _, want := range []bool{true, false} {
		if changed, err := dir.Seal(t.Context(), id); err != nil || changed != want {
			t.Errorf("Seal: %v, %v; want %v", changed, err, want)
		}
	}
	l := mustOpen(t, dir, id)
	if _, err := dir.Seal(t.Context(), id); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("of a locked journal: %v", err)
	}
	must(t, l.Close())
	must(t, dir.Archive(t.Context(), id))
	if changed, err := dir.Seal(t.Context(), id); err != nil || changed {
		t.Errorf("of an archive: %v, %v", changed, err)
	}
	torn := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), torn+".jsonl")
	appendFile(t, path, []byte("half a line"))
	before := readFile(t, path)
	if _, err := dir.Seal(t.Context(), torn); !errors.Is(err, journal.ErrTorn) || !bytes.Equal(readFile(t, path), before) {
		t.Errorf("of a torn journal: %v", err)
	}
}

// Whatever fails while a journal is sealed, its events stay, and a later Seal covers
// them.
func TestFailedSealKeepsEvents(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(noSyncFS{vfs.OS})
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk, Now: atNoon})
		id := newJournal(t, dir, 100)
		want := validEvents(t, dir, id)
		disk.HalfWrites(true)
		disk.Fail(n, syscall.EIO)
		_, err := dir.Seal(t.Context(), id)
		failed := disk.Failed()
		disk.Heal()
		if l, openErr := dir.Open(t.Context(), id); openErr == nil { // with what a half-written seal left
			_, sealErr := l.Seal()
			must(t, errors.Join(sealErr, l.Close()))
		}
		events := validEvents(t, dir, id)
		last := events[len(events)-1]
		if len(events) <= len(want) || last.Synced != last.Seq-1 {
			t.Errorf("failure %d, %v: the last event is %+v\n%s", n, err, last, disk)
		}
		same(t, fmt.Sprint("after failure ", n), events[:len(want)], want)
		if !failed || t.Failed() {
			return
		}
	}
}

// flips is how many damaged copies of a file a test reads.
func flips() int {
	if !sizetest.Full() {
		return 100
	}
	return 500
}

// flip returns content with one random byte changed, and the line that it is in.
func flip(random *rand.Rand, content []byte) (damaged []byte, line int) {
	at := random.IntN(len(content))
	damaged = bytes.Clone(content)
	damaged[at] ^= byte(1 + random.IntN(255))
	return damaged, bytes.Count(content[:at], []byte("\n")) + 1
}

// A changed byte of a sealed journal is corruption, at its line or, if the change made
// that line look like two, no later than the next. In the last line it is a torn tail.
func TestFlipsInSealedJournal(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	for name, seal := range map[string]func(id string){
		"sealed": func(id string) {
			_, err := dir.Seal(t.Context(), id)
			must(t, err)
		},
		"repaired": func(id string) {
			damageFile(t, filepath.Join(dir.Path(), id+".jsonl"), 4, func(lines [][]byte, k int) [][]byte {
				return append(lines[:k:k], lines[k+1:]...)
			})
			_, err := dir.Repair(t.Context(), id, nil, false)
			must(t, err)
		},
		"appended to": func(id string) {
			l := mustOpen(t, dir, id)
			mustAppend(t, l, counted(16, 0))
			must(t, l.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(15, 7))
			id := newJournal(t, dir, 30)
			seal(id)
			path := filepath.Join(dir.Path(), id+".jsonl")
			sound := readFile(t, path)
			lines := len(splitLines(sound))
			for range flips() {
				damaged, line := flip(random, sound)
				must(t, os.WriteFile(path, damaged, 0o600))
				_, torn, err := read(t, dir, id)
				var corrupt *journal.CorruptError
				switch {
				case line == lines && err == nil && torn.Bytes > 0:
				case line < lines && errors.As(err, &corrupt) && corrupt.Line == int64(line):
				default:
					t.Fatalf("a change in line %d of %d: %v, torn %+v\n%s", line, lines, err, torn, damaged)
				}
			}
		})
	}
}

// A changed byte of an archive is corruption, even if nothing that is read depends on it.
func TestFlipsInArchive(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	id := newJournal(t, dir, 30)
	must(t, dir.Archive(t.Context(), id))
	path := archivePath(dir, id)
	sound := readFile(t, path)
	check := func() error {
		r, err := dir.Reader(id, journal.Position{})
		if err != nil {
			return err
		}
		defer r.Close()
		return stdcmp.Or(r.CheckChain(t.Context()), r.CheckFile(t.Context()))
	}
	must(t, check())
	random := rand.New(rand.NewPCG(15, 9))
	damaged := [][]byte{}
	for range flips() {
		copied, _ := flip(random, sound)
		damaged = append(damaged, copied)
	}
	for at := range 40 { // the mark and the headers of the first frame, the checksum and the table
		for _, at := range []int{at, len(sound) - 1 - at} {
			for bit := range 8 {
				copied := bytes.Clone(sound)
				copied[at] ^= 1 << bit
				damaged = append(damaged, copied)
			}
		}
	}
	for _, copied := range damaged {
		must(t, os.WriteFile(path, copied, 0o600))
		err := check()
		if corrupt := new(journal.CorruptError); !errors.As(err, &corrupt) || corrupt.Line < 1 {
			t.Errorf("% x\nis read as valid: %v", copied, err)
		}
	}
}

func TestArchiveOfEarlierVersionHasNoChecksum(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 30)
	path := filepath.Join(dir.Path(), id+".jsonl")
	want := validEvents(t, dir, id)
	pack(t, path, archivePath(dir, id))
	must(t, os.Remove(path))
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	must(t, r.CheckFile(t.Context()))
	same(t, "the archive", validEvents(t, dir, id), want)
}
