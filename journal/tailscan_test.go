package journal_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// faults change line k of a journal of 15 lines. The first invalid line then is k +
// shift. whole: the line that should be there, or another one that may follow, is in the bytes
// after that, so that no crash can have left them.
var faults = []struct {
	name   string
	last   int // the last k to which it applies
	shift  int
	whole  bool
	damage func(lines [][]byte, k int) [][]byte
}{
	{"a digit of seq changed", 15, 0, false, changed(`{"seq":`)},
	{"a digit of time changed", 15, 0, false, changed(`"time":"2026-1`)},
	{"a letter of type changed", 15, 0, false, changed(`"type":"sh`)},
	{"a letter of data changed", 15, 0, false, changed(`"pad":"xx`)},
	{"a digit of sum changed", 15, 0, false, changed(`,"sum":"`)},
	{"the key of sum changed", 15, 0, false, changed(`,"s`)},
	{"the newline changed", 15, 0, true, func(lines [][]byte, k int) [][]byte {
		lines[k-1][len(lines[k-1])-1] = ' '
		return lines
	}},
	{"the newline lost", 15, 0, true, func(lines [][]byte, k int) [][]byte {
		lines[k-1] = lines[k-1][:len(lines[k-1])-1]
		return lines
	}},
	{"the line removed", 14, 0, false, func(lines [][]byte, k int) [][]byte {
		return slices.Delete(lines, k-1, k)
	}},
	{"the line duplicated", 15, 1, true, func(lines [][]byte, k int) [][]byte {
		return slices.Insert(lines, k, lines[k-1])
	}},
	{"the line swapped with the next", 14, 0, true, func(lines [][]byte, k int) [][]byte {
		lines[k-1], lines[k] = lines[k], lines[k-1]
		return lines
	}},
	{"a line of another journal inserted", 15, 0, true, func(lines [][]byte, k int) [][]byte {
		foreign := journal.Event{Seq: uint64(k), Time: noon, Type: "sheep.counted", Data: []byte(`{}`), Sum: 0xabad1dea}
		return slices.Insert(lines, k-1, append(foreign.Line(), '\n'))
	}},
	{"a line of an editor inserted", 15, 0, true, func(lines [][]byte, k int) [][]byte {
		return slices.Insert(lines, k-1, []byte("what is this?\n"))
	}},
	{"4 KiB of NUL in the line", 15, 0, false, func(lines [][]byte, k int) [][]byte {
		copy(lines[k-1][100:], make([]byte, 4<<10))
		return lines
	}},
	{"the line empty", 15, 0, false, func(lines [][]byte, k int) [][]byte {
		lines[k-1] = []byte("\n")
		return lines
	}},
}

func changed(after string) func([][]byte, int) [][]byte {
	return func(lines [][]byte, k int) [][]byte {
		i := bytes.LastIndex(lines[k-1], []byte(after)) + len(after)
		if lines[k-1][i]++; lines[k-1][i] == '2' {
			lines[k-1][i] = '9' // 13 does not become a valid number of this journal
		}
		return lines
	}
}

func TestCorruptIfSyncedElseTorn(t *testing.T) {
	racetest.SkipSequential(t)
	for _, fault := range faults {
		t.Run(fault.name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			id := newJournal(t, dir, 5000)
			original := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
			events := validEvents(t, dir, id)
			for k := 1; k <= fault.last; k++ {
				t.Run(fmt.Sprint("line ", k), func(t *testing.T) {
					dir := newDir(t)
					corrupted := bytes.Join(fault.damage(splitLines(bytes.Clone(original)), k), nil)
					path := filepath.Join(dir.Path(), id+".jsonl")
					writeFile(t, path, corrupted)
					bad := k + fault.shift
					offset := int64(len(bytes.Join(splitLines(original)[:bad-1], nil)))
					switch atEnd := k == fault.last && bad <= len(events); {
					case atEnd && fault.name == "the newline lost":
						isWhole(t, dir, id, events)
					case k <= lastSynced || fault.whole && bad <= len(events):
						isCorrupt(t, dir, id, events[:bad-1], bad, offset)
					default:
						isTorn(t, dir, id, events[:bad-1], offset, corrupted[offset:])
					}
				})
			}
		})
	}
}

// isWhole checks that every way of reading returns the events of a journal whose last line lacks its newline, and that
// they stay.
func isWhole(t *testing.T, dir *journal.Dir, id string, events []journal.Event) {
	t.Helper()
	got, torn, err := read(t, dir, id)
	if err != nil || torn.Bytes > 0 {
		t.Errorf("torn %+v, %v", torn, err)
	}
	same(t, "read", got, events)
	l := mustOpen(t, dir, id)
	if l.Position().Seq != uint64(len(events)) || l.Torn().Bytes > 0 {
		t.Errorf("opened at %+v, torn %+v", l.Position(), l.Torn())
	}
	r, err := l.Reader(journal.Position{})
	must(t, err)
	if !r.Holds(l.Position()) {
		t.Error("the reader does not hold the end")
	}
	added := mustAppend(t, l, counted(99, 0))
	same(t, "after an append", validEvents(t, dir, id), append(slices.Clip(events), added...))
}

// isCorrupt checks that every way of reading stops at a line with a CorruptError.
func isCorrupt(t *testing.T, dir *journal.Dir, id string, good []journal.Event, line int, offset int64) {
	t.Helper()
	before := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
	checkCorruptError := func(err error) {
		t.Helper()
		var corrupt *journal.CorruptError
		if !errors.As(err, &corrupt) || corrupt.Line != int64(line) || corrupt.Offset != offset {
			t.Errorf("error %v, want corruption in line %d (byte %d)", err, line, offset)
		}
	}
	events, _, err := read(t, dir, id)
	checkCorruptError(err)
	same(t, "read before it", events, good)

	_, err = dir.Open(t.Context(), id)
	checkCorruptError(err)

	f := follow(t, dir, id, journal.Position{})
	f.expect(good...)
	checkCorruptError(f.end())

	if after := readFile(t, filepath.Join(dir.Path(), id+".jsonl")); !bytes.Equal(before, after) {
		t.Error("the file was changed")
	}
}

// isTorn checks that every way of reading ends before the tail without an error,
// and that the next Append sets aside exactly its bytes.
func isTorn(t *testing.T, dir *journal.Dir, id string, good []journal.Event, offset int64, tail []byte) {
	t.Helper()
	path := filepath.Join(dir.Path(), id+".jsonl")
	before := readFile(t, path)
	events, torn, err := read(t, dir, id)
	if err != nil || torn.Offset != offset || torn.Bytes != int64(len(tail)) {
		t.Fatalf("torn %+v, error %v, want a tail of %d bytes at %d", torn, err, len(tail), offset)
	}
	same(t, "read before it", events, good)
	f := follow(t, dir, id, journal.Position{})
	f.expect(good...)

	l := mustOpen(t, dir, id)
	if diff := cmp.Diff(torn, l.Torn()); diff != "" {
		t.Error("Reader and Log differ:", diff)
	}
	if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".jsonl", id + ".lock"}) {
		t.Error("Open created files:", names)
	}
	if !bytes.Equal(before, readFile(t, path)) {
		t.Error("opening changed the journal")
	}

	added := mustAppend(t, l, counted(99, 0))
	must(t, l.Close())
	if len(added) != 2 {
		t.Fatalf("appended %d events", len(added))
	}
	want := journal.Recovered{
		Reason: torn.Reason, Aside: id + ".aside-1", Offset: offset, Bytes: int64(len(tail)),
		FirstSeq: torn.FirstSeq, LastSeq: torn.LastSeq,
	}
	if diff := cmp.Diff(want, recoveredIn(t, added[0])); diff != "" {
		t.Errorf("recorded (-want +got):\n%s", diff)
	}
	if aside := readFile(t, filepath.Join(dir.Path(), want.Aside)); !bytes.Equal(aside, tail) {
		t.Errorf("set aside %q, want %q", aside, tail)
	}
	f.expect(added...)
	same(t, "after recovery", validEvents(t, dir, id), append(slices.Clone(good), added...))
}

func TestTruncatedJournalEndsInATornTail(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 100)
	original := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
	events := validEvents(t, dir, id)
	var offset int64
	for i, line := range splitLines(original) {
		cut := offset + int64(len(line)/2)
		dir := newDir(t)
		writeFile(t, filepath.Join(dir.Path(), id+".jsonl"), original[:cut])
		isTorn(t, dir, id, events[:i], offset, original[offset:cut])
		offset += int64(len(line))
	}
}

// Without -full, only every fifth byte and the newlines are changed.
func TestEveryChangedByteIsFoundInItsLine(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	id := newJournal(t, dir, 1)
	path := filepath.Join(dir.Path(), id+".jsonl")
	original := readFile(t, path)
	events := validEvents(t, dir, id)
	patterns := []func(byte) byte{
		func(c byte) byte { return c ^ 0x01 },
		func(c byte) byte { return c ^ 0x80 },
		func(byte) byte { return 0 },
		func(byte) byte { return '\n' },
		func(byte) byte { return '1' },
	}
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	defer file.Close()
	line, start := 1, int64(0)
	for i, c := range original {
		for p, pattern := range patterns {
			if pattern(c) == c || !sizetest.Full() && i%5 > 0 && c != '\n' {
				continue
			}
			_, err := file.WriteAt([]byte{pattern(c)}, int64(i))
			must(t, err)
			got, torn, err := read(t, dir, id)
			if p == 0 {
				opensLikeItReads(t, dir, id, torn, err)
			}
			var corrupt *journal.CorruptError
			switch isCorrupt := errors.As(err, &corrupt); {
			case len(got) != line-1 || !slices.EqualFunc(got, events[:line-1],
				func(a, b journal.Event) bool { return a.Sum == b.Sum }):
				t.Fatalf("byte %d (line %d), pattern %d: %d events before it", i, line, p, len(got))
			case c == '\n' && (pattern(c) != 0 || line < len(events)): // the whole line stays, joined with the next one
				if !isCorrupt || corrupt.Offset != start {
					t.Fatalf("byte %d (line %d), pattern %d: error %v", i, line, p, err)
				}
			case line > lastSynced && (err != nil || torn.Offset != start || torn.Bytes != int64(len(original))-start):
				t.Fatalf("byte %d (line %d), pattern %d: torn %+v, error %v", i, line, p, torn, err)
			case line <= lastSynced && (!isCorrupt || corrupt.Line != int64(line) || corrupt.Offset != start):
				t.Fatalf("byte %d (line %d), pattern %d: torn %+v, error %v", i, line, p, torn, err)
			}
		}
		_, err := file.WriteAt([]byte{c}, int64(i))
		must(t, err)
		if c == '\n' {
			line, start = line+1, int64(i)+1
		}
	}
}

func opensLikeItReads(t *testing.T, dir *journal.Dir, id string, torn journal.Torn, readErr error) {
	t.Helper()
	l, err := dir.Open(t.Context(), id)
	if err == nil {
		defer l.Close()
	}
	switch {
	case fmt.Sprint(err) != fmt.Sprint(readErr):
		t.Fatalf("opening: %v, reading: %v", err, readErr)
	case err == nil && l.Torn() != torn:
		t.Fatalf("opening finds %+v, reading %+v", l.Torn(), torn)
	}
}

func TestSecondTornTailGetsItsOwnFile(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	for n, tail := range []string{`{"seq":16,"ti`, "\x00\x00\x00"} {
		appendFile(t, path, []byte(tail))
		l := mustOpen(t, dir, id)
		got := recoveredIn(t, mustAppend(t, l, counted(99, 0))[0])
		must(t, l.Close())
		name := fmt.Sprintf("%s.aside-%d", id, n+1)
		if got.Aside != name || string(readFile(t, filepath.Join(dir.Path(), name))) != tail {
			t.Errorf("recorded %+v, want %q in %s", got, tail, name)
		}
	}
	if n := len(validEvents(t, dir, id)); n != 15+2*2 {
		t.Errorf("%d events", n)
	}
}

func TestCrashBeforeTruncatingLosesNothing(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half"))
	writeFile(t, filepath.Join(dir.Path(), id+".aside-1"), []byte("half"))
	l := mustOpen(t, dir, id)
	if got := recoveredIn(t, mustAppend(t, l, counted(99, 0))[0]); got.Aside != id+".aside-2" {
		t.Errorf("recorded %+v", got)
	}
}

func TestTornTailReportsItsSequenceNumbers(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	lines := splitLines(readFile(t, path))
	lines[12][20] ^= 1
	for _, end := range []string{"half", strings.Repeat("x", journal.MinMaxLine) + "\n"} {
		writeFile(t, path, append(bytes.Join(lines, nil), end...))
		l, err := limited(dir, journal.MinMaxLine).Open(t.Context(), id)
		must(t, err)
		if torn := l.Torn(); torn.FirstSeq != 13 || torn.LastSeq != 15 {
			t.Errorf("torn %+v, want the events 13 to 15", torn)
		}
		must(t, l.Close())
	}
}

// If a crash lost a page that is followed by more valid lines than the checked
// window, the journal must not be appended to: the events appended would be
// unreadable.
func TestLostPageBeforeTheWindowIsFound(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 3, 10)...)
	must(t, l.Sync())
	const mib = 1 << 20
	mustAppend(t, l, batch(4, 15, mib)...)
	must(t, l.Close())
	path := filepath.Join(dir.Path(), l.ID()+".jsonl")
	data := readFile(t, path)
	offset := bytes.Index(data, []byte(`{"seq":4,`))
	copy(data[offset+100:], make([]byte, 4096))
	writeFile(t, path, data)

	l = mustOpen(t, dir, l.ID())
	if torn := l.Torn(); torn.Offset != int64(offset) || torn.LastSeq != 15 {
		t.Errorf("torn %+v, want it from byte %d on", torn, offset)
	}
	if l.Position().Seq != 3 {
		t.Errorf("continues after event %d, want 3", l.Position().Seq)
	}
}

// newJournalOf12MiB creates a journal of 12 synced events of a mebibyte each.
func newJournalOf12MiB(t *testing.T, dir *journal.Dir) (l *journal.Log, path string, data []byte) {
	t.Helper()
	l = mustCreate(t, dir)
	const mib = 1 << 20
	for n := 1; n <= 12; n++ {
		mustAppend(t, l, counted(n, mib))
		must(t, l.Sync())
	}
	must(t, l.Close())
	path = filepath.Join(dir.Path(), l.ID()+".jsonl")
	return l, path, readFile(t, path)
}

func TestCorruptionInTheWindowIsReportedWithTheFirstCorruptLine(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	l, path, data := newJournalOf12MiB(t, dir)
	data[500] ^= 1
	data[len(data)-1<<21] ^= 1
	writeFile(t, path, data)
	var corrupt *journal.CorruptError
	if _, err := dir.Open(t.Context(), l.ID()); !errors.As(err, &corrupt) || corrupt.Line != 1 {
		t.Errorf("Open: %v", err)
	}
}

func TestUnarchivingReportsTheCorruptLine(t *testing.T) {
	t.Parallel()
	dir := newDir(t).WithFrames(3 << 20)
	l, _, _ := newJournalOf12MiB(t, dir)
	must(t, dir.Archive(t.Context(), l.ID()))
	path := archivePath(dir, l.ID())
	packed := readFile(t, path)
	packed[60] ^= 1
	writeFile(t, path, packed)
	l = mustOpen(t, dir, l.ID())
	var corrupt *journal.CorruptError
	if _, err := l.Append(counted(13, 0)); !errors.As(err, &corrupt) || corrupt.Line > 2 {
		t.Errorf("Append: %v", err)
	}
}

func TestOpenIgnoresCorruptionBeforeTheWindow(t *testing.T) {
	racetest.SkipSequential(t)
	t.Parallel()
	dir := newDir(t)
	l, path, data := newJournalOf12MiB(t, dir)
	data[500] ^= 1
	writeFile(t, path, data)
	if pos := mustOpen(t, dir, l.ID()).Position(); pos.Seq != 12 || pos.Offset != int64(len(data)) {
		t.Errorf("opened at %+v", pos)
	}
	var corrupt *journal.CorruptError
	if _, _, err := read(t, dir, l.ID()); !errors.As(err, &corrupt) || corrupt.Line != 1 {
		t.Errorf("reading: %v", err)
	}
}
