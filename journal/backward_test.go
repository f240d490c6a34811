package journal_test

import (
	"bytes"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// aroundBlocks are paddings with which lines start and end near the boundaries of
// the blocks that are read at once, and some short ones.
func aroundBlocks() *rapid.Generator[int] {
	const block = 256 << 10
	return rapid.OneOf(
		rapid.IntRange(0, 300), rapid.IntRange(0, 300), rapid.IntRange(0, 300),
		rapid.IntRange(block-250, block+50), rapid.IntRange(block/2-150,
			block/2+50), rapid.IntRange(2*block-250, 2*block+50),
	)
}

func TestBeforeReturnsTheEventsOfAllReversed(t *testing.T) {
	racetest.SkipSequential(t)
	propertytest.Check(t, func(rt *rapid.T) {
		dir := newDir(t).WithFrames(rapid.SampledFrom([]int{200, 5000, 300_000, 16 << 20}).Draw(rt, "frame"))
		l := mustCreate(t, dir)
		for range rapid.IntRange(1, 5).Draw(rt, "batches") {
			var records []journal.Record
			for _, padding := range rapid.SliceOfN(aroundBlocks(), 1, 4).Draw(rt, "paddings") {
				records = append(records, counted(len(records), padding))
			}
			mustAppend(t, l, records...)
			must(t, l.Sync())
		}
		must(t, l.Close())
		id := l.ID()
		events := validEvents(t, dir, id)
		switch rapid.SampledFrom([]string{"live", "torn", "archived"}).Draw(rt, "it is") {
		case "torn":
			appendFile(t, filepath.Join(dir.Path(), id+".jsonl"),
				bytes.Repeat([]byte("half"), rapid.IntRange(1, 200_000).Draw(rt, "of a line")))
		case "archived":
			must(t, dir.Archive(t.Context(), id))
		}
		at := positions(events)
		from := rapid.IntRange(0, len(events)).Draw(rt, "from")
		to := rapid.IntRange(from, len(events)).Draw(rt, "to")

		r, err := dir.Reader(id, at[from])
		must(t, err)
		defer r.Close()
		end, err := r.End()
		must(t, err)
		if end != at[len(events)] {
			t.Fatalf("it ends at %+v, want %+v", end, at[len(events)])
		}
		var back []journal.Event
		for e, err := range r.Before(at[to]) {
			must(t, err)
			back = append(back, e)
			if got, want := r.Position(), at[to-len(back)]; got != want {
				t.Fatalf("the position before event %d is %+v, want %+v", e.Seq, got, want)
			}
		}
		slices.Reverse(back)
		same(t, "backwards", back, events[from:to])
		var rest []journal.Event
		for e, err := range r.After(at[to]) {
			must(t, err)
			rest = append(rest, e)
		}
		same(t, "forwards", rest, events[to:])
		for seq := range len(events) + 3 {
			found, err := r.Find(uint64(seq))
			if want := at[min(max(from, seq-1), len(events))]; err != nil || found != want {
				t.Fatalf("event %d is found at %+v, want %+v: %v", seq, found, want, err)
			}
		}
	})
}

// If a block boundary splits the sum of a line, another block must be read to check
// the following line.
func TestBeforeAtBlockBoundaries(t *testing.T) {
	const block = 256 << 10
	dir := newDir(t)
	for padding := block - 150; padding < block-80; padding++ {
		l := mustCreate(t, dir)
		events := mustAppend(t, l, counted(1, 0), counted(2, padding))
		must(t, l.Close())
		r, err := dir.Reader(l.ID(), journal.Position{})
		must(t, err)
		back, err := backwards(r)
		must(t, r.Close())
		must(t, err)
		slices.Reverse(back)
		same(t, "backwards", back, events)
	}
}

func TestBeforeAPositionOfAnotherJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 30)
	end := positions(validEvents(t, dir, id))[15]
	for name, p := range map[string]journal.Position{
		"another sum":    {Seq: end.Seq, Offset: end.Offset, Sum: end.Sum + 1},
		"another number": {Seq: end.Seq + 1, Offset: end.Offset, Sum: end.Sum},
		"another offset": {Seq: end.Seq, Offset: end.Offset - 1, Sum: end.Sum},
		"after the end":  {Seq: end.Seq, Offset: end.Offset + 1, Sum: end.Sum},
		"the beginning":  {Seq: end.Seq, Offset: 0, Sum: end.Sum},
	} {
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		next, stop := iter.Pull2(r.Before(p))
		if e, err, _ := next(); err == nil {
			t.Errorf("%s: %s", name, e.Line())
		}
		stop()
		must(t, r.Close())
	}
}

// longJournal creates a journal that is longer than a block and than the window of
// a search.
func longJournal(t testing.TB, dir *journal.Dir) (id string) {
	t.Helper()
	l := mustCreate(t, dir)
	for n := 1; n <= 2000; n += 10 {
		mustAppend(t, l, batch(n, n+9, 400)...)
		must(t, l.Sync())
	}
	must(t, l.Close())
	return l.ID()
}

func TestBeforeReadsOnlyTheLastEvents(t *testing.T) {
	for _, archived := range []bool{false, true} {
		disk := &countedReads{FS: noSyncFS{vfs.OS}}
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"),
			journal.Options{FS: disk, Now: atNoon}).WithFrames(50_000)
		id := longJournal(t, dir)
		events := validEvents(t, dir, id)
		at := positions(events)
		path := filepath.Join(dir.Path(), id+".jsonl")
		if archived {
			must(t, dir.Archive(t.Context(), id))
			path = archivePath(dir, id)
		}
		size := int64(len(readFile(t, path)))
		disk.first, disk.watched = size, true
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		defer r.Close()
		n := len(events)
		for e, err := range r.Before(at[n]) {
			must(t, err)
			if n--; !bytes.Equal(e.Line(), events[n].Line()) {
				t.Fatalf("event %d is %s", n+1, e.Line())
			}
			if n == len(events)-5 {
				break
			}
		}
		if disk.first < size/2 {
			t.Errorf("archived %v: of %d bytes it read those from %d on", archived, size, disk.first)
		}
	}
}

func TestFindInALongJournal(t *testing.T) {
	racetest.SkipSequential(t)
	for _, frames := range []int{0, 50_000, 16 << 20} {
		dir := newDir(t)
		id := longJournal(t, dir)
		at := positions(validEvents(t, dir, id))
		if frames > 0 {
			must(t, dir.WithFrames(frames).Archive(t.Context(), id))
		}
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		defer r.Close()
		for seq := uint64(1); seq < 2010; seq += 7 {
			if p, err := r.Find(seq); err != nil || p != at[min(seq-1, 2000)] {
				t.Fatalf("frames of %d: event %d is found at %+v: %v", frames, seq, p, err)
			}
		}
	}
}

func TestFindReportsCorruptionAsReadingDoes(t *testing.T) {
	racetest.SkipSequential(t)
	dir := newDir(t)
	id := longJournal(t, dir)
	path := filepath.Join(dir.Path(), id+".jsonl")
	good := readFile(t, path)
	lines := splitLines(good)
	for _, c := range []struct {
		name   string
		damage func()
	}{
		{"a line with another number", func() {
			lines[1000] = bytes.Replace(lines[1000], []byte(`"seq":1001`),
				[]byte(`"seq":1901`), 1)
		}},
		{"a newline is lost", func() { lines[1000] = lines[1000][:len(lines[1000])-1] }},
		{"many numbers are lower", func() {
			for i := 900; i < 1100; i++ {
				lines[i] = bytes.Replace(lines[i], []byte(`{"seq":1`), []byte(`{"seq":`), 1)
			}
		}},
		{"many lines are no lines", func() {
			for i := 900; i < 1100; i++ {
				lines[i] = bytes.Repeat([]byte("x"), len(lines[i]))
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			lines = splitLines(good)
			c.damage()
			writeFile(t, path, bytes.Join(lines, nil))
			_, _, want := read(t, dir, id)
			events := 0
			for seq := uint64(1); seq < 2002; seq += 50 {
				r, err := dir.Reader(id, journal.Position{})
				must(t, err)
				p, err := r.Find(seq)
				must(t, r.Close())
				var corrupt *journal.CorruptError
				switch {
				case err == nil && p.Seq != seq-1:
					t.Errorf("event %d is found after event %d", seq, p.Seq)
				case err == nil:
					events++
				case !errors.As(err, &corrupt) || err.Error() != want.Error():
					t.Errorf("event %d: %v, want %v", seq, err, want)
				}
			}
			if events < 15 {
				t.Errorf("only %d events of 40 are found", events)
			}
		})
	}
}

func TestBeforeStopsAtCorruption(t *testing.T) {
	damages := []struct {
		name   string
		damage func(lines [][]byte) [][]byte
		seen   int // events returned, from the last one
		line   int64
	}{
		{"a byte of line 5 is changed", func(l [][]byte) [][]byte { l[4][30] ^= 1; return l }, 10, 5},
		{"the sum of line 5 is changed", func(l [][]byte) [][]byte { l[4][len(l[4])-5] ^= 1; return l }, 9, 6},
		{"line 5 does not end in a checksum", func(l [][]byte) [][]byte { l[4][len(l[4])-2] ^= 1; return l }, 9, 6},
		{"line 5 is lost", func(l [][]byte) [][]byte { return slices.Delete(l, 4, 5) }, 9, 6},
		{"line 5 is duplicated", func(l [][]byte) [][]byte { return slices.Insert(l, 4, l[4]) }, 10, 5},
		{"line 5 has lost its newline", func(l [][]byte) [][]byte { l[4] = l[4][:len(l[4])-1]; return l }, 9, 6},
		{"line 5 has another number and a sum that fits", func(l [][]byte) [][]byte {
			_, sum := decodeLine(t, l[3])
			l[4] = []byte(withSum(`{"seq":9,"time":"2026-11-21T12:00:00.000000Z","type":"a.b","data":{}`, sum) + "\n")
			_, sum = decodeLine(t, l[4])
			for i := 5; i < len(l); i++ {
				l[i] = []byte(withSum(string(l[i][:len(l[i])-19]), sum) + "\n")
				_, sum = decodeLine(t, l[i])
			}
			return l
		}, 10, 5},
		{"the beginning is lost", func(l [][]byte) [][]byte { return l[3:] }, 11, 4},
	}
	for _, c := range damages {
		t.Run(c.name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 30)
			path := filepath.Join(dir.Path(), id+".jsonl")
			events := validEvents(t, dir, id)
			lines := c.damage(splitLines(readFile(t, path)))
			writeFile(t, path, bytes.Join(lines, nil))
			last, sum := decodeLine(t, lines[len(lines)-1])
			r, err := dir.Reader(id, journal.Position{})
			must(t, err)
			defer r.Close()
			seen := 0
			for e, failed := range r.Before(journal.Position{Seq: last,
				Offset: int64(len(bytes.Join(lines, nil))), Sum: sum}) {
				if err = failed; err != nil {
					break
				}
				seen++
				if !bytes.Equal(e.Data, events[15-seen].Data) {
					t.Errorf("event %d is %s", e.Seq, e.Line())
				}
			}
			lines = splitLines(readFile(t, path))
			start := int64(len(bytes.Join(lines[:len(lines)-1-seen], nil)))
			var corrupt *journal.CorruptError
			if !errors.As(err, &corrupt) || corrupt.Path != path || corrupt.Line != c.line || seen != c.seen ||
				corrupt.Offset != start {
				t.Errorf("%d events, then %v; want %d, then line %d (byte %d)", seen, err, c.seen, c.line, start)
			}
			if end, err := r.End(); err == nil {
				t.Errorf("it ends at %+v and no error", end)
			}
		})
	}
}

func decodeLine(t testing.TB, line []byte) (seq uint64, sum journal.Sum) {
	t.Helper()
	line = bytes.TrimSuffix(line, []byte("\n"))
	must(t, sum.UnmarshalText(line[len(line)-10:len(line)-2]))
	_, rest, _ := bytes.Cut(line, []byte(`{"seq":`))
	for _, digit := range rest {
		if digit < '0' || digit > '9' {
			break
		}
		seq = 10*seq + uint64(digit-'0')
	}
	return seq, sum
}
