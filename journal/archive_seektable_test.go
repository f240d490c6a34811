package journal_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// The tests read and write seek tables according to the description of the format,
// not with the code under test.

type tableEntry struct{ packed, size uint32 }

func splitTable(t testing.TB, archive []byte) (frames []byte, entries []tableEntry) {
	t.Helper()
	le := binary.LittleEndian
	footer := archive[len(archive)-9:]
	if le.Uint32(footer[5:]) != 0x8F92EAB1 || footer[4] != 0 {
		t.Fatalf("the archive ends in % x", footer)
	}
	count := int(le.Uint32(footer))
	start := len(archive) - 9 - 8*count - 8
	table := archive[start:]
	if le.Uint32(table) != 0x184D2A5E || int(le.Uint32(table[4:])) != 8*count+9 {
		t.Fatalf("the table begins with % x", table[:8])
	}
	for i := range count {
		entry := table[8+8*i:]
		entries = append(entries, tableEntry{le.Uint32(entry), le.Uint32(entry[4:])})
	}
	return archive[:start], entries
}

func joinTable(frames []byte, checksums bool, entries ...tableEntry) []byte {
	le := binary.LittleEndian
	var table []byte
	for _, e := range entries {
		table = le.AppendUint32(le.AppendUint32(table, e.packed), e.size)
		if checksums {
			table = append(table, "sum?"...)
		}
	}
	table = le.AppendUint32(table, uint32(len(entries)))
	if checksums {
		table = append(table, 0x80)
	} else {
		table = append(table, 0)
	}
	table = le.AppendUint32(table, 0x8F92EAB1)
	archive := le.AppendUint32(bytes.Clone(frames), 0x184D2A5E)
	archive = le.AppendUint32(archive, uint32(len(table)))
	return append(archive, table...)
}

// archive replaces the bytes of an archive.
func archivePath(dir *journal.Dir, id string) string {
	return filepath.Join(dir.Path(), "archive", id+".jsonl.zst")
}

func TestArchiveFramesEndWithALine(t *testing.T) {
	dir := newDir(t).WithFrames(1000)
	id := newJournal(t, dir, 200)
	data := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
	must(t, dir.Archive(t.Context(), id))
	packed, entries := splitTable(t, readFile(t, archivePath(dir, id)))
	dec, err := zstd.NewReader(nil)
	must(t, err)
	defer dec.Close()
	var all []byte
	for i, e := range entries { // the first and the last are empty: the mark and the checksum
		part, err := dec.DecodeAll(packed[:e.packed], nil)
		must(t, err)
		if len(part) != int(e.size) || len(part) > 1000 || len(part) > 0 && part[len(part)-1] != '\n' {
			t.Errorf("frame %d has %d bytes, the table says %d; it ends in %q", i, len(part), e.size,
				part[max(0, len(part)-5):])
		}
		packed, all = packed[e.packed:], append(all, part...)
	}
	if len(packed) > 0 || !bytes.Equal(all, data) || len(entries) < 5 {
		t.Errorf("%d frames have %d bytes of %d, and %d bytes are in none", len(entries), len(all), len(data),
			len(packed))
	}
}

func TestZstdProgramReadsArchives(t *testing.T) {
	program := programtest.Path(t, "zstd")
	for _, padding := range []int{-1, 0, 300} {
		dir := newDir(t).WithFrames(1000)
		id := dir.NewID()
		live := filepath.Join(dir.Path(), id+".jsonl")
		if padding < 0 {
			writeFile(t, live, nil)
		} else {
			id = newJournal(t, dir, padding)
			live = filepath.Join(dir.Path(), id+".jsonl")
		}
		data := readFile(t, live)
		must(t, dir.Archive(t.Context(), id))
		if out, err := exec.Command(program, "-t", archivePath(dir, id)).CombinedOutput(); err != nil {
			t.Errorf("zstd -t: %v, %s", err, out)
		}
		if out, err := exec.Command(program, "-dc", archivePath(dir, id)).Output(); err != nil ||
			!bytes.Equal(out, data) {
			t.Errorf("zstd -d: %v, %d bytes of %d", err, len(out), len(data))
		}
	}
}

// positions returns the positions between all events of a journal.
func positions(events []journal.Event) []journal.Position {
	all := []journal.Position{{}}
	offset := int64(0)
	for _, e := range events {
		offset += int64(len(e.Line())) + 1
		all = append(all, journal.Position{Seq: e.Seq, Offset: offset, Sum: e.Sum})
	}
	return all
}

func readFrom(t testing.TB, dir *journal.Dir, id string, p journal.Position) (events []journal.Event, err error) {
	t.Helper()
	r, err := dir.Reader(id, p)
	must(t, err)
	defer r.Close()
	for e, err := range r.All() {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// searchAll returns the events after a position, by a search that finds each of them.
func searchAll(t testing.TB, dir *journal.Dir, id string, p journal.Position) (events []journal.Event, err error) {
	t.Helper()
	r, err := dir.Reader(id, p)
	must(t, err)
	defer r.Close()
	for e, err := range r.Grep(func([]byte) int { return 0 }) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

const foreignFrames = "frames of another program, with checksums and an empty one"

// packings are the ways in which an archive may have been created.
var packings = []struct {
	name string
	pack func(t testing.TB, dir *journal.Dir, id string)
}{
	{"one frame", func(t testing.TB, dir *journal.Dir, id string) { must(t, dir.Archive(t.Context(), id)) }},
	{"a frame every thousand bytes", func(t testing.TB, dir *journal.Dir, id string) {
		must(t, dir.WithFrames(1000).Archive(t.Context(), id))
	}},
	{"a frame shorter than a line", func(t testing.TB, dir *journal.Dir, id string) {
		must(t, dir.WithFrames(90).Archive(t.Context(), id))
	}},
	{"without a table", func(t testing.TB, dir *journal.Dir, id string) {
		repack(t, dir, id, func(data []byte) []byte {
			var b bytes.Buffer
			w, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
			must(t, err)
			_, err = w.Write(data)
			must(t, err)
			must(t, w.Close())
			return b.Bytes()
		})
	}},
	{foreignFrames, func(t testing.TB, dir *journal.Dir, id string) {
		repack(t, dir, id, func(data []byte) []byte {
			enc, err := zstd.NewWriter(nil)
			must(t, err)
			defer enc.Close()
			var frames []byte
			entries := []tableEntry{}
			for i, part := range slices.Collect(slices.Chunk(data, 777)) {
				packed := enc.EncodeAll(part, nil)
				entries = append(entries, tableEntry{uint32(len(packed)), uint32(len(part))})
				frames = append(frames, packed...)
				if i == 1 {
					frames = binary.LittleEndian.AppendUint64(frames, 0x184D2A53)
					entries = append(entries, tableEntry{8, 0})
				}
			}
			return joinTable(frames, true, entries...)
		})
	}},
}

// looksSeekable reports whether a file starts or ends like an archive with a seek table.
func looksSeekable(data []byte) bool {
	le := binary.LittleEndian
	mark := le.AppendUint64(nil, 8<<32|0x184D2A5D)
	return bytes.HasPrefix(data, append(mark, "checksum"...)) ||
		bytes.HasPrefix(data, le.AppendUint64(nil, 0x184D2A5D)) ||
		len(data) >= 4 && le.Uint32(data[len(data)-4:]) == 0x8F92EAB1
}

// framesOf returns the prefixes of an archive that end with each of its frames, or
// none if it has no table.
func framesOf(t testing.TB, archive []byte) (cuts [][]byte) {
	if !looksSeekable(archive) {
		return nil
	}
	_, entries := splitTable(t, archive)
	end := 0
	for _, e := range entries {
		end += int(e.packed)
		cuts = append(cuts, archive[:end])
	}
	return cuts
}

// repack creates an archive of a live journal in one of the packings.
func repack(t testing.TB, dir *journal.Dir, id string, pack func(data []byte) []byte) {
	t.Helper()
	data := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
	must(t, dir.Archive(t.Context(), id))
	writeFile(t, archivePath(dir, id), pack(data))
}

func TestArchiveIsReadFromAnyPosition(t *testing.T) {
	for _, c := range packings {
		t.Run(c.name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 200)
			events := validEvents(t, dir, id)
			c.pack(t, dir, id)
			same(t, "read", validEvents(t, dir, id), events)
			must(t, dir.Check(id))
			for i, p := range positions(events) {
				rest, err := readFrom(t, dir, id, p)
				must(t, err)
				same(t, fmt.Sprint("from ", i), rest, events[i:])
				checkHolds(t, dir, id, p)
			}
			l := mustOpen(t, dir, id)
			mustAppend(t, l, counted(16, 0))
			must(t, l.Close())
			if n := len(validEvents(t, dir, id)); n != 16 {
				t.Errorf("unarchived, it has %d events", n)
			}
		})
	}
}

func checkHolds(t testing.TB, dir *journal.Dir, id string, p journal.Position) {
	t.Helper()
	r, err := dir.Reader(id, p)
	must(t, err)
	defer r.Close()
	if !r.Holds(p) {
		t.Errorf("it does not hold %+v", p)
	}
	for _, wrong := range []journal.Position{
		{Seq: p.Seq + 1, Offset: p.Offset, Sum: p.Sum},
		{Seq: p.Seq, Offset: p.Offset + 1, Sum: p.Sum},
		{Seq: p.Seq, Offset: p.Offset, Sum: p.Sum + 1},
		{Seq: p.Seq, Offset: 1 << 40, Sum: p.Sum},
	} {
		if r.Holds(wrong) {
			t.Errorf("it holds %+v", wrong)
		}
	}
}

func TestReadingAnArchivesEndReadsNothingBefore(t *testing.T) {
	disk := &countedReads{FS: noSyncFS{vfs.OS}}
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"),
		journal.Options{FS: disk, Now: atNoon}).WithFrames(1000)
	id := newJournal(t, dir, 300)
	events := validEvents(t, dir, id)
	must(t, dir.Archive(t.Context(), id))
	size := int64(len(readFile(t, archivePath(dir, id))))
	at := positions(events)
	disk.first, disk.watched = size, true
	rest, err := readFrom(t, dir, id, at[13])
	must(t, err)
	same(t, "the end", rest, events[13:])
	if disk.first < size/2 {
		t.Errorf("of %d bytes it read those from %d on", size, disk.first)
	}
}

// countedReads records the lowest offset of a file that was read.
type countedReads struct {
	vfs.FS
	watched bool
	first   int64
}

func (c *countedReads) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := c.FS.OpenFile(name, flag, perm)
	if err != nil || !c.watched {
		return f, err
	}
	return countedFile{f, c}, nil
}

type countedFile struct {
	vfs.File
	c *countedReads
}

func (f countedFile) ReadAt(p []byte, offset int64) (int, error) {
	f.c.first = min(f.c.first, offset)
	return f.File.ReadAt(p, offset)
}

func TestCorruptArchiveNeverReturnsOtherEvents(t *testing.T) {
	racetest.SkipSequential(t)
	places := 40
	if sizetest.Full() {
		places = 200
	}
	for _, c := range packings {
		t.Run(c.name, func(t *testing.T) {
			dir := newDir(t)
			id := newJournal(t, dir, 20)
			events := validEvents(t, dir, id)
			c.pack(t, dir, id)
			packed := readFile(t, archivePath(dir, id))
			for i := 0; i < len(packed); i += 1 + len(packed)/places {
				corrupted := bytes.Clone(packed)
				corrupted[i] ^= 0x10
				neverOther(t, dir, id, fmt.Sprint("byte ", i), corrupted, events)
			}
			if c.name == foreignFrames {
				return // truncated between two frames, it looks complete
			}
			for cut := 0; cut < len(packed); cut += 1 + 2*len(packed)/places {
				neverOther(t, dir, id, fmt.Sprint("cut at ", cut), packed[:cut], events)
				if events, err := readFrom(t, dir, id, journal.Position{}); err == nil {
					t.Errorf("cut at %d: %d events and no error", cut, len(events))
				}
			}
			for _, frames := range framesOf(t, packed) {
				neverOther(t, dir, id, "cut between two frames", frames, events)
			}
		})
	}
}

// neverOther fails if an archive returns other events than those, or fewer of them
// without an error.
func neverOther(t testing.TB, dir *journal.Dir, id, what string, archive []byte, events []journal.Event) {
	t.Helper()
	writeFile(t, archivePath(dir, id), archive)
	at := positions(events)
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	for _, from := range []int{0, 7, 14} {
		if r.Holds(at[from]) {
			got, err := readFrom(t, dir, id, at[from])
			isPart(t, fmt.Sprint(what, ", read from ", from), got, events[from:], err)
			got, err = searchAll(t, dir, id, at[from])
			isPart(t, fmt.Sprint(what, ", searched from ", from), got, events[from:], err)
		}
	}
	back, err := backwards(r)
	isPart(t, what+", read backwards", back, events, err)
	if p, err := r.Find(9); err == nil {
		got, err := readFrom(t, dir, id, p)
		isPart(t, what+", read from where event 9 is found", got, events[8:], err)
	}
}

// backwards reads a whole journal in reverse order.
func backwards(r *journal.Reader) (events []journal.Event, err error) {
	end, err := r.End()
	if err != nil {
		return nil, err
	}
	for e, err := range r.Before(end) {
		if err != nil {
			return events, err
		}
		events = append(events, e)
	}
	return events, nil
}

// isPart fails unless the events are a part of those wanted, and all of them unless
// there is corruption.
func isPart(t testing.TB, what string, got, events []journal.Event, err error) {
	t.Helper()
	var corrupt *journal.CorruptError
	switch {
	case err == nil && len(got) != len(events):
		t.Errorf("%s: %d events of %d and no error", what, len(got), len(events))
	case err != nil && !errors.As(err, &corrupt):
		t.Errorf("%s: %v", what, err)
	case err != nil && !strings.HasSuffix(corrupt.Path, ".jsonl.zst"):
		t.Errorf("%s: the error names %s", what, corrupt.Path)
	}
	for _, e := range got {
		if !slices.ContainsFunc(events, func(w journal.Event) bool { return bytes.Equal(w.Line(), e.Line()) }) {
			t.Fatalf("%s: %s", what, e.Line())
		}
	}
}

func TestForgedSeekTableNeverReturnsOtherEvents(t *testing.T) {
	racetest.SkipSequential(t)
	lies := []struct {
		name string
		lie  func(e []tableEntry) []tableEntry
	}{
		{"a size is moved to the next frame", func(e []tableEntry) []tableEntry { e[2].size--; e[3].size++; return e }},
		{"a line is moved to the frame before",
			func(e []tableEntry) []tableEntry { e[2].size += 120; e[3].size -= 120; return e }},
		{"two sizes are exchanged", func(e []tableEntry) []tableEntry {
			e[1].size, e[4].size = e[4].size,
				e[1].size
			return e
		}},
		{"the first frame is hidden", func(e []tableEntry) []tableEntry { e[1].size = 0; return e }},
		{"the last frame is hidden", func(e []tableEntry) []tableEntry { e[len(e)-1].size = 0; return e }},
		{"a frame in the middle is hidden", func(e []tableEntry) []tableEntry { e[3].size = 0; return e }},
		{"a frame is called huge", func(e []tableEntry) []tableEntry { e[3].size = 1<<32 - 1; return e }},
		{"the last frame is called huge", func(e []tableEntry) []tableEntry { e[len(e)-1].size = 1<<32 - 1; return e }},
		{"the last frame is left out", func(e []tableEntry) []tableEntry { return e[:len(e)-1] }},
		{"the first frame is left out", func(e []tableEntry) []tableEntry { return e[1:] }},
		{"there are no frames", func(e []tableEntry) []tableEntry { return nil }},
		{"the border of two frames is moved",
			func(e []tableEntry) []tableEntry { e[2].packed--; e[3].packed++; return e }},
		{"two frames are called one", func(e []tableEntry) []tableEntry {
			e[2].packed, e[2].size, e[3].packed, e[3].size = e[2].packed+e[3].packed, e[2].size+e[3].size, 0, 0
			return e
		}},
		{"without sizes", func(e []tableEntry) []tableEntry {
			for i := range e {
				e[i].size = 0
			}
			return e
		}},
	}
	for _, c := range lies {
		t.Run(c.name, func(t *testing.T) {
			dir := newDir(t).WithFrames(500)
			id := newJournal(t, dir, 100)
			events := validEvents(t, dir, id)
			must(t, dir.Archive(t.Context(), id))
			frames, entries := splitTable(t, readFile(t, archivePath(dir, id)))
			lying := joinTable(frames, false, c.lie(entries)...)
			neverOther(t, dir, id, "read", lying, events)
			l, err := dir.Open(t.Context(), id)
			if err != nil {
				return
			}
			defer l.Close()
			if _, err := l.Append(counted(16, 0)); err != nil {
				if after := readFile(t, archivePath(dir, id)); !bytes.Equal(after, lying) {
					t.Error("the archive was changed")
				}
				return
			}
			must(t, l.Close())
			same(t, "unarchived", validEvents(t, dir, id)[:15], events)
		})
	}
}

func TestJournalIsKeptIfItsArchiveReadsBackWrong(t *testing.T) {
	for name, lie := range map[string]lyingDisk{
		"the archive, read back":          {names: ".zst.tmp", nth: 1},
		"the journal, to compress it":     {names: ".jsonl", nth: 2}, // the first read searches the end of a frame
		"the journal, to compare it with": {names: ".jsonl", nth: 3},
	} {
		disk := &lyingDisk{FS: noSyncFS{vfs.OS}}
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk, Now: atNoon})
		id := newJournal(t, dir, 300)
		events := validEvents(t, dir, id)
		disk.names, disk.nth = lie.names, lie.nth
		if err := dir.Archive(t.Context(), id); err == nil {
			t.Errorf("%s: no error", name)
		}
		disk.names = ""
		if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".jsonl", id + ".lock"}) {
			t.Errorf("%s: files: %v", name, names)
		}
		same(t, name, validEvents(t, dir, id), events)
	}
}

// Without -full, only every fourth read fails.
func TestJournalIsKeptIfReadingFailsWhileArchiving(t *testing.T) {
	racetest.SkipSequential(t)
	step := 1
	if !sizetest.Full() {
		step = 4
	}
	for n, failed := 1, true; failed; n += step {
		disk := journaltest.New(noSyncFS{vfs.OS})
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"),
			journal.Options{FS: disk, Now: atNoon}).WithFrames(500)
		id := newJournal(t, dir, 300)
		events := validEvents(t, dir, id)
		disk.Fail(n, syscall.EIO, journaltest.Read)
		err := dir.Archive(t.Context(), id)
		failed = disk.Failed()
		disk.Heal()
		if names := filesIn(t, dir.Path()); err != nil && !slices.Equal(names, []string{id + ".jsonl", id + ".lock"}) {
			t.Errorf("reading %d fails: files: %v", n, names)
		}
		same(t, fmt.Sprintf("reading %d fails", n), validEvents(t, dir, id), events)
		must(t, dir.Archive(t.Context(), id))
		same(t, fmt.Sprintf("reading %d failed, and it was retried", n), validEvents(t, dir, id), events)
	}
}

// lyingDisk returns wrong bytes when a file with the given suffix is read for the
// nth time since it was opened, with a long buffer.
type lyingDisk struct {
	vfs.FS
	names string // "": none
	nth   int
}

func (d *lyingDisk) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil || d.names == "" || !strings.HasSuffix(name, d.names) {
		return f, err
	}
	return &lyingFile{File: f, left: d.nth}, nil
}

type lyingFile struct {
	vfs.File
	left int // long reads until the wrong one
}

func (f *lyingFile) ReadAt(p []byte, offset int64) (int, error) {
	n, err := f.File.ReadAt(p, offset)
	if n > 200 {
		if f.left--; f.left == 0 {
			p[n/2] ^= 1
		}
	}
	return n, err
}

func TestArchiveProgressEndsAtTheTotal(t *testing.T) {
	var reported []journal.Progress
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"),
		journal.Options{FS: noSyncFS{vfs.OS}, Progress: func(p journal.Progress) {
			reported = append(reported, p)
		}}).WithFrames(1000)
	id := newJournal(t, dir, 300)
	size := int64(len(readFile(t, filepath.Join(dir.Path(), id+".jsonl"))))
	must(t, dir.Archive(t.Context(), id))
	rises(t, reported, journal.Progress{ID: id, Total: 2 * size})
	reported = nil
	l := mustOpen(t, dir, id)
	if len(reported) > 0 {
		t.Error("opening reports progress")
	}
	mustAppend(t, l, counted(16, 0))
	rises(t, reported, journal.Progress{ID: id, Total: size, Unarchive: true})
}

// rises fails unless the reported progress increases up to the total.
func rises(t *testing.T, reported []journal.Progress, of journal.Progress) {
	t.Helper()
	for _, p := range reported {
		if p.Done < of.Done {
			t.Errorf("it goes back from %d to %d", of.Done, p.Done)
		}
		if of.Done = p.Done; p != of {
			t.Errorf("reported %+v, want %+v", p, of)
		}
	}
	if of.Done != of.Total {
		t.Errorf("the last report is %+v", of)
	}
}
