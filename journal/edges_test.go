package journal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestLongErrorOfTheSystemFitsTheSmallestLimit(t *testing.T) {
	disk := journaltest.New(vfs.OS)
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"),
		journal.Options{FS: disk, Now: atNoon, MaxLine: journal.MinMaxLine})
	id := newJournal(t, dir, 10)
	l := mustOpen(t, dir, id)
	disk.Fail(1, errors.New(strings.Repeat("\x01", 5000)), journaltest.Sync)
	if _, err := l.Append(counted(16, 0)); err == nil {
		t.Fatal("the sync did not fail")
	}
	disk.Heal()
	events := mustAppend(t, l, counted(16, 0))
	if reason := recoveredIn(t, events[0]).Reason; len(reason) < 100 || len(reason) > 256 {
		t.Errorf("the reason has %d bytes", len(reason))
	}
	must(t, l.Close())
	validEvents(t, dir, id)
}

func TestEveryControlCharacterOfATypeIsEscaped(t *testing.T) {
	for c := range byte(' ') {
		e := journal.Event{Seq: 1, Time: noon, Type: fmt.Sprintf("a%cb", c), Data: json.RawMessage("{}")}
		var read struct{ Type string }
		if err := json.Unmarshal(e.Line(), &read); err != nil || read.Type != e.Type {
			t.Errorf("%#x: %q, %v", c, read.Type, err)
		}
	}
}

func TestAcceptedRecordFitsTheLimitAtAnyNumber(t *testing.T) {
	const limit = 4096
	padding := limit
	for counted(1, padding).Fits(limit) != nil {
		padding--
	}
	const last = 99_999_999
	e, _, err := journal.Position{Seq: last - 1}.Next(counted(1, padding))
	must(t, err)
	for _, seq := range []uint64{last, 1<<64 - 1} {
		e.Seq, e.Synced = seq, seq-1
		if n := len(e.Line()) + 1; n > limit {
			t.Errorf("at %d the line has %d bytes of %d", seq, n, limit)
		}
	}
}

// tableFS changes the seek table of each archive while it is written.
type tableFS struct {
	vfs.FS
	change func(table []byte)
}

func (f tableFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	file, err := f.FS.OpenFile(name, flag, perm)
	return tableFile{file, f.change}, err
}

type tableFile struct {
	vfs.File
	change func(table []byte)
}

func (f tableFile) Write(p []byte) (int, error) {
	if at := bytes.Index(p, []byte{0x5E, 0x2A, 0x4D, 0x18}); at >= 0 {
		p = bytes.Clone(p)
		f.change(p[at:])
	}
	return f.File.Write(p)
}

func TestArchiveWhoseTableReadsBackWrongIsRefused(t *testing.T) {
	change := func(table []byte) { table[8+4]++ } // the decompressed size of the first frame
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"),
		journal.Options{FS: tableFS{noSyncFS{vfs.OS}, change}, Now: atNoon})
	id := newJournal(t, dir, 10)
	if err := dir.Archive(t.Context(), id); err == nil {
		t.Error("the archive is accepted")
	}
	if info, err := dir.Stat(id); err != nil || info.Archived {
		t.Errorf("%+v, %v", info, err)
	}
}

// A table with checksums is used: if its sizes are wrong, the journal cannot be read.
func TestTableWithChecksumsIsUsed(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 10)
	path := filepath.Join(dir.Path(), id+".jsonl")
	data := readFile(t, path)
	enc, err := zstd.NewWriter(nil)
	must(t, err)
	defer enc.Close()
	for _, wrong := range []uint32{0, 1} {
		var frames []byte
		var entries []tableEntry
		for part := range slices.Chunk(data, 500) {
			packed := enc.EncodeAll(part, nil)
			frames = append(frames, packed...)
			entries = append(entries, tableEntry{uint32(len(packed)), uint32(len(part)) + wrong})
		}
		writeFile(t, archivePath(dir, id), joinTable(frames, true, entries...))
		os.Remove(path)
		_, _, err := read(t, dir, id)
		if corrupt := new(journal.CorruptError); errors.As(err, &corrupt) != (wrong > 0) {
			t.Errorf("with sizes that are %d too large: %v", wrong, err)
		}
	}
}

// lineOf returns the line of an event with any sync mark.
func lineOf(seq, synced int, prev journal.Sum) (line string, sum journal.Sum) {
	body := fmt.Sprintf(`{"seq":%d,"synced":%d,"time":"2026-11-21T12:00:00.000000Z","type":"sheep.counted","data":{"n":%d}`,
		seq, synced, seq)
	if synced == 0 {
		body = strings.Replace(body, `"synced":0,`, "", 1)
	}
	line = withSum(body, prev)
	sum, _ = trailerSum([]byte(line))
	return line, sum
}

// A sync mark that covers its own line cannot be true.
func TestLyingSyncMarks(t *testing.T) {
	first, sum1 := lineOf(1, 0, 0)
	second, sum2 := lineOf(2, 0, sum1)
	lying, _ := lineOf(3, 9, sum2)
	dir := newDir(t)
	id := dir.NewID()
	path := filepath.Join(dir.Path(), id+".jsonl")
	writeFile(t, path, []byte(first+"\n"+second+lying+"\n")) // a newline is lost
	_, _, err := read(t, dir, id)
	if corrupt := new(journal.CorruptError); !errors.As(err, &corrupt) || corrupt.Line != 2 {
		t.Errorf("joined lines: %v", err)
	}

	first, sum1 = lineOf(1, 9, 0)
	second, sum2 = lineOf(2, 0, sum1)
	third, _ := lineOf(3, 0, sum2)
	writeFile(t, path, []byte(first+"\n"+strings.Replace(second, `"n":2`, `"n":7`, 1)+"\n"+third+"\n"))
	_, err = dir.Repair(t.Context(), id, nil, false)
	must(t, err)
	for _, e := range validEvents(t, dir, id) {
		if e.Synced >= e.Seq {
			t.Errorf("event %d has synced %d after the repair", e.Seq, e.Synced)
		}
	}
}

func TestFailedSetAsideLeavesNoFile(t *testing.T) {
	for _, kind := range []journaltest.Kind{journaltest.Sync, journaltest.Write} {
		disk := journaltest.New(vfs.OS)
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk, Now: atNoon})
		id := newJournal(t, dir, 10)
		appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half a line"))
		l := mustOpen(t, dir, id)
		disk.Fail(1, syscall.EIO, kind)
		if _, err := l.Append(counted(16, 0)); !errors.Is(err, syscall.EIO) {
			t.Errorf("%s: %v", kind, err)
		}
		disk.Heal()
		for _, name := range filesIn(t, dir.Path()) {
			if strings.Contains(name, ".aside-") {
				t.Errorf("after a failed %s: %s", kind, name)
			}
		}
	}
}

// A line that follows damage is written again, in the layout of a writer, which may be longer.
func TestRepairRefusesARewrittenLineOverTheLimit(t *testing.T) {
	const short, long = "2026-11-21T12:00:00Z", "2026-11-21T12:00:00.000000Z"
	first, sum := lineOf(1, 0, 0)
	changed, sum := lineOf(2, 0, sum)
	changed = strings.Replace(changed, `"n":2`, `"n":7`, 1)
	third, sum := lineOf(3, 0, sum)
	body := fmt.Sprintf(`{"seq":4,"time":"%s","type":"sheep.counted","data":{"pad":"%s"}`, short, strings.Repeat("x", 3000))
	fourth := withSum(body, sum)
	sum, _ = trailerSum([]byte(fourth))
	mark, _ := lineOf(5, 4, sum)
	content := []byte(strings.Join([]string{first, changed, third, fourth, mark, ""}, "\n"))
	longest := len(fourth) + 1 + len(long) - len(short)
	for _, limit := range []int{longest - 1, longest} {
		dir := newDir(t)
		id := dir.NewID()
		path := filepath.Join(dir.Path(), id+".jsonl")
		writeFile(t, path, content)
		_, err := limited(dir, limit).Repair(t.Context(), id, nil, false)
		var corrupt *journal.CorruptError
		switch {
		case limit < longest && errors.As(err, &corrupt) && corrupt.TooLong == int64(longest) &&
			bytes.Equal(readFile(t, path), content):
		case limit == longest && err == nil:
			if _, _, err := read(t, limited(dir, limit), id); err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("with a limit of %d bytes for %d: %v", limit, longest, err)
		}
	}
}

// The date decides when a session in the trash is old enough.
func TestInterruptedPurgeKeepsTheDateToTheEnd(t *testing.T) {
	for n := 1; ; n++ {
		disk := journaltest.New(vfs.OS)
		dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk, Now: atNoon})
		id := newJournal(t, dir, 10)
		writeFile(t, filepath.Join(dir.Path(), id+".aside-1"), []byte("a part"))
		must(t, trash.Of(dir).Move(t.Context(), id))
		disk.Fail(n, syscall.EIO, journaltest.Remove)
		err := trash.Of(dir).Purge(id)
		failed := disk.Failed()
		disk.Heal()
		var parts, dates int
		for _, name := range filesIn(t, filepath.Join(dir.Path(), "trash")) {
			if strings.HasSuffix(name, ".trashed") {
				dates++
			} else {
				parts++
			}
		}
		if parts > 0 && dates == 0 {
			t.Errorf("failure %d, %v: %d parts are left without a date", n, err, parts)
		}
		if !failed {
			return
		}
	}
}

// shortWrites is a file system that writes only half of a line, and reports no error.
type shortWrites struct {
	vfs.FS
	on *bool
}

func (s shortWrites) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := s.FS.OpenFile(name, flag, perm)
	return shortWriter{f, s.on}, err
}

type shortWriter struct {
	vfs.File
	on *bool
}

func (w shortWriter) Write(p []byte) (int, error) {
	if *w.on {
		p = p[:len(p)/2]
	}
	return w.File.Write(p)
}

func TestShortWriteIsAFailedWrite(t *testing.T) {
	on := false
	dir := journal.NewDir(t.TempDir(), journal.Options{FS: shortWrites{noSyncFS{vfs.OS}, &on}})
	l := mustCreate(t, dir)
	mustAppend(t, l, counted(1, 0))
	on = true
	if _, err := l.Append(counted(2, 0)); !errors.Is(err, journal.ErrPoisoned) ||
		!strings.Contains(err.Error(), "short write") {
		t.Errorf("Append: %v", err)
	}
	on = false
	_, err := l.Recover(t.Context())
	must(t, err)
	if got := countedIn(t, validEvents(t, dir, l.ID())); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("the journal has %v", got)
	}
}

func TestCreateInAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	writeFile(t, path, nil)
	for _, name := range []string{path, filepath.Join(path, "journals")} {
		dir := journal.NewDir(name, journal.Options{})
		_, err := mustCreate(t, dir).Append(counted(1, 0))
		var failed *fs.PathError
		if !errors.As(err, &failed) || !strings.HasPrefix(failed.Path, path) ||
			!strings.Contains(err.Error(), "not a directory") {
			t.Errorf("Append: %v", err)
		}
	}
}

func TestCreateOfAJournalThatIsLockedMeanwhile(t *testing.T) {
	mem := journaltest.NewMem()
	must(t, mem.Mkdir("/home", 0o700))
	disk := journaltest.New(mem)
	l, err := memDir(disk).Create(programID)
	must(t, err)
	var other vfs.File
	disk.Before(func() {
		if f, err := mem.OpenFile(l.Path(), os.O_RDWR, 0); err == nil && other == nil {
			must(t, f.Lock())
			other = f
		}
	})
	if _, err := l.Append(counted(1, 0)); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("Append: %v", err)
	}
	must(t, other.Close())
	mustAppend(t, l, counted(1, 0))
	must(t, l.Close())
}
