package journal_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
)

func unpack(t *testing.T, name string) []byte {
	t.Helper()
	dec, err := zstd.NewReader(bytes.NewReader(readFile(t, name)))
	must(t, err)
	defer dec.Close()
	data, err := io.ReadAll(dec)
	must(t, err)
	return data
}

func TestAnArchiveHasTheSameBytesAndReadsTheSame(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 2000)
	events := sound(t, dir, id)
	middle := positionBehind(t, dir, id, 7)
	data := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
	must(t, dir.Archive(id))
	must(t, dir.Archive(id)) // is archived already

	if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".lock", "archive/" + id + ".jsonl.zst"}) {
		t.Error("files:", names)
	}
	if got := unpack(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst")); !bytes.Equal(got, data) {
		t.Error("the bytes differ")
	}
	same(t, "read", sound(t, dir, id), events)
	r, err := dir.Reader(id, middle)
	must(t, err)
	defer r.Close()
	var rest []journal.Event
	for e, err := range r.All() {
		must(t, err)
		rest = append(rest, e)
	}
	same(t, "read from the middle", rest, events[7:])
	if info, err := dir.Stat(id); err != nil || !info.Archived {
		t.Errorf("Stat: %+v, %v", info, err)
	}
}

func TestTheFirstAppendBringsAnArchivedJournalBack(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	data := readFile(t, path)
	must(t, dir.Archive(id))
	l := mustOpen(t, dir, id)
	if l.Position().Seq != 15 {
		t.Errorf("opened at %+v", l.Position())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("opening brought it back")
	}
	e := mustAppend(t, l, counted(16, 0))[0]
	if got, want := string(readFile(t, path)), string(data)+string(e.Line())+"\n"; got != want {
		t.Errorf("the journal holds\n%s\nwant\n%s", got, want)
	}
	if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".jsonl", id + ".lock"}) {
		t.Error("files:", names)
	}
}

func TestWhereBothExistTheLiveJournalWins(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	must(t, dir.Archive(id))
	archive := readFile(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst"))
	l := mustOpen(t, dir, id)
	mustAppend(t, l, counted(16, 0))
	must(t, l.Close())
	writeFile(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst"), archive)

	if n := len(sound(t, dir, id)); n != 16 {
		t.Errorf("read %d events", n)
	}
	infos, err := dir.List()
	if err != nil || len(infos) != 1 || infos[0].Archived {
		t.Errorf("List: %+v, %v", infos, err)
	}
	l = mustOpen(t, dir, id)
	mustAppend(t, l, counted(17, 0))
	must(t, l.Close())
	must(t, dir.Archive(id))
	if n := len(sound(t, dir, id)); n != 17 {
		t.Errorf("archived %d events", n)
	}
}

func TestATornTailIsSetAsideBeforeAJournalIsArchived(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half"))
	must(t, dir.Archive(id))
	events := sound(t, dir, id)
	if what := recoveredIn(t, events[15]); what.Bytes != 4 || what.Aside != id+".aside-1" {
		t.Errorf("recorded %+v", what)
	}
}

func TestAnEmptyJournalCanBeArchived(t *testing.T) {
	dir := newDir(t)
	id := dir.NewID()
	writeFile(t, filepath.Join(dir.Path(), id+".jsonl"), nil)
	must(t, dir.Archive(id))
	if n := len(readFile(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst"))); n == 0 {
		t.Error("the archive is no zstd file")
	}
	l := mustOpen(t, dir, id)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Close())
	if n := len(sound(t, dir, id)); n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestDamageInAnArchiveIsAnError(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	must(t, dir.Archive(id))
	path := filepath.Join(dir.Path(), "archive", id+".jsonl.zst")
	packed := readFile(t, path)
	for i := range packed {
		damaged := bytes.Clone(packed)
		damaged[i] ^= 0x10
		writeFile(t, path, damaged)
		events, torn, err := read(t, dir, id)
		if err == nil && (len(events) != 15 || torn.Bytes > 0) {
			t.Errorf("byte %d: %d events, torn %+v and no error", i, len(events), torn)
		}
	}
	for _, cut := range []int{1, len(packed) / 2, len(packed) - 1} {
		writeFile(t, path, packed[:cut])
		if events, torn, err := read(t, dir, id); err == nil {
			t.Errorf("cut at %d: %d events, torn %+v and no error", cut, len(events), torn)
		}
		if l, err := dir.Open(id); err == nil {
			t.Errorf("cut at %d: it opens at %+v", cut, l.Position())
			l.Close()
		}
	}
}

// Whatever fails on the way to the archive and back, once or from then on, the
// journal can be read at once, and the same can be tried again.
func TestNoFailureOnTheWayToTheArchiveAndBackLosesTheJournal(t *testing.T) {
	for name, fail := range map[string]func(*journaltest.FS, int){
		"once":      func(d *journaltest.FS, n int) { d.Fail(n, syscall.EIO) },
		"from then": func(d *journaltest.FS, n int) { d.FailFrom(n, syscall.ENOSPC) },
		"half":      func(d *journaltest.FS, n int) { d.HalfWrites(true); d.Fail(n, syscall.ENOSPC, journaltest.Write) },
		"reading":   func(d *journaltest.FS, n int) { d.Fail(n, syscall.EIO, journaltest.Read) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n++ {
				disk := journaltest.New(quick{journal.OS})
				fail(disk, n)
				thereAndBack(t, disk)
				if !disk.Failed() {
					return
				}
				if t.Failed() {
					t.Fatalf("with operation %d failing:\n%s", n, disk)
				}
			}
		})
	}
}

func thereAndBack(t *testing.T, disk *journaltest.FS) {
	healthy := newDir(t)
	id := newJournal(t, healthy, 50)
	path := filepath.Join(healthy.Path(), id+".jsonl")
	appendFile(t, path, []byte("half"))
	dir := journal.NewDir(healthy.Path(), journal.Options{FS: disk, Now: atNoon})

	s := &stubborn{t: t, disk: disk}
	for err := dir.Archive(id); err != nil; err = dir.Archive(id) {
		if n := countedIn(t, readGood(t, healthy, id)); len(n) != 15 {
			t.Fatalf("after %v there are %d events", err, len(n))
		}
		s.failed(err)
	}
	before := sound(t, healthy, id)
	l := s.open(dir, id)
	s.append(l, counted(16, 0))
	s.sync(l)
	must(t, l.Close())

	after := sound(t, healthy, id)
	same(t, "back", after[:len(before)], before)
	same(t, "appended", after[len(before):], s.returned)
	want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	if diff := cmp.Diff(want, countedIn(t, after)); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}

func readGood(t *testing.T, dir *journal.Dir, id string) []journal.Event {
	t.Helper()
	events, _, err := read(t, dir, id)
	must(t, err)
	return events
}

func TestUnfinishedFilesAreIgnoredAndRemovedByTheNextWriter(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	left := []string{
		filepath.Join(dir.Path(), id+".jsonl.tmp"),
		filepath.Join(dir.Path(), "archive", id+".jsonl.zst.tmp"),
	}
	for _, name := range left {
		writeFile(t, name, []byte("unfinished"))
	}
	if infos, err := dir.List(); err != nil || len(infos) != 1 {
		t.Errorf("List: %+v, %v", infos, err)
	}
	l := mustOpen(t, dir, id)
	for _, name := range left {
		readFile(t, name) // opening removes nothing
	}
	mustAppend(t, l, counted(16, 0))
	for _, name := range left {
		if _, err := os.Stat(name); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
