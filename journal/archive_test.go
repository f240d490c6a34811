package journal_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/agent-chatter/agent-chatter/journal"
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

func TestArchiveHasTheSameBytesAndEvents(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 2000)
	events := validEvents(t, dir, id)
	middle := positionAfter(t, dir, id, 7)
	data := readFile(t, filepath.Join(dir.Path(), id+".jsonl"))
	must(t, dir.Archive(t.Context(), id))
	must(t, dir.Archive(t.Context(), id)) // it is archived already

	if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".lock", "archive/" + id + ".jsonl.zst"}) {
		t.Error("files:", names)
	}
	if got := unpack(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst")); !bytes.Equal(got, data) {
		t.Error("the bytes differ")
	}
	same(t, "read", validEvents(t, dir, id), events)
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

func TestDataWithoutRepetitionsIsCompressed(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	picture := make([]byte, 1<<20)
	rand.NewChaCha8([32]byte{}).Read(picture)
	text, err := json.Marshal(map[string]string{"picture": base64.StdEncoding.EncodeToString(picture)})
	must(t, err)
	mustAppend(t, l, journal.Record{Time: noon, Type: "tool.completed", Data: text})
	must(t, l.Close())
	must(t, dir.Archive(t.Context(), l.ID()))
	packed := len(readFile(t, filepath.Join(dir.Path(), "archive", l.ID()+".jsonl.zst")))
	if limit := len(text) * 4 / 5; packed > limit { // base64 has 6 bits per byte
		t.Errorf("%d bytes of base64 take %d in an archive, more than %d", len(text), packed, limit)
	}
}

func TestFirstAppendUnarchives(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	path := filepath.Join(dir.Path(), id+".jsonl")
	data := readFile(t, path)
	must(t, dir.Archive(t.Context(), id))
	l := mustOpen(t, dir, id)
	if l.Position().Seq != 15 {
		t.Errorf("opened at %+v", l.Position())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("Open unarchived it")
	}
	e := mustAppend(t, l, counted(16, 0))[0]
	if got, want := string(readFile(t, path)), string(data)+string(e.Line())+"\n"; got != want {
		t.Errorf("the journal holds\n%s\nwant\n%s", got, want)
	}
	if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".jsonl", id + ".lock"}) {
		t.Error("files:", names)
	}
}

func TestUnarchiveLeavesTheSameBytes(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 20)
	live := filepath.Join(dir.Path(), id+".jsonl")
	data := readFile(t, live)
	must(t, dir.Archive(t.Context(), id))
	for range 2 { // the second time it is live
		must(t, dir.Unarchive(t.Context(), id))
		if !bytes.Equal(readFile(t, live), data) {
			t.Error("the bytes differ")
		}
		if names := filesIn(t, dir.Path()); !slices.Equal(names, []string{id + ".jsonl", id + ".lock"}) {
			t.Error("files:", names)
		}
	}
	if err := dir.Unarchive(t.Context(), dir.NewID()); !errors.Is(err, journal.ErrNotFound) {
		t.Errorf("a missing journal: %v", err)
	}
	log, err := dir.Open(t.Context(), id)
	must(t, err)
	defer log.Close()
	if err := dir.Unarchive(t.Context(), id); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("an open journal: %v", err)
	}
}

func TestLiveJournalTakesPrecedence(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	must(t, dir.Archive(t.Context(), id))
	archive := readFile(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst"))
	l := mustOpen(t, dir, id)
	mustAppend(t, l, counted(16, 0))
	must(t, l.Close())
	writeFile(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst"), archive)

	if n := len(validEvents(t, dir, id)); n != 16 {
		t.Errorf("read %d events", n)
	}
	infos, err := dir.List(t.Context())
	if err != nil || len(infos) != 1 || infos[0].Archived {
		t.Errorf("List: %+v, %v", infos, err)
	}
	l = mustOpen(t, dir, id)
	mustAppend(t, l, counted(17, 0))
	must(t, l.Close())
	must(t, dir.Archive(t.Context(), id))
	if n := len(validEvents(t, dir, id)); n != 17 {
		t.Errorf("archived %d events", n)
	}
}

func TestArchiveSetsATornTailAside(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	appendFile(t, filepath.Join(dir.Path(), id+".jsonl"), []byte("half"))
	must(t, dir.Archive(t.Context(), id))
	events := validEvents(t, dir, id)
	if what := recoveredIn(t, events[15]); what.Bytes != 4 || what.Aside != id+".aside-1" {
		t.Errorf("recorded %+v", what)
	}
}

func TestArchiveOfAnEmptyJournal(t *testing.T) {
	dir := newDir(t)
	id := dir.NewID()
	writeFile(t, filepath.Join(dir.Path(), id+".jsonl"), nil)
	must(t, dir.Archive(t.Context(), id))
	if n := len(readFile(t, filepath.Join(dir.Path(), "archive", id+".jsonl.zst"))); n == 0 {
		t.Error("the archive is no zstd file")
	}
	l := mustOpen(t, dir, id)
	mustAppend(t, l, counted(1, 0))
	must(t, l.Close())
	if n := len(validEvents(t, dir, id)); n != 1 {
		t.Errorf("%d events", n)
	}
}

func TestCorruptArchiveIsAnError(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	must(t, dir.Archive(t.Context(), id))
	path := filepath.Join(dir.Path(), "archive", id+".jsonl.zst")
	packed := readFile(t, path)
	for i := range packed {
		corrupted := bytes.Clone(packed)
		corrupted[i] ^= 0x10
		writeFile(t, path, corrupted)
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
		if l, err := dir.Open(t.Context(), id); err == nil {
			t.Errorf("cut at %d: it opens at %+v", cut, l.Position())
			l.Close()
		}
	}
}

// If an operation fails while a journal is archived or unarchived, once or
// permanently, the journal stays readable, and the call can be retried.
func TestTemporaryFilesAreIgnoredAndRemoved(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	left := []string{
		filepath.Join(dir.Path(), id+".jsonl.tmp"),
		filepath.Join(dir.Path(), "archive", id+".jsonl.zst.tmp"),
	}
	for _, name := range left {
		writeFile(t, name, []byte("unfinished"))
	}
	if infos, err := dir.List(t.Context()); err != nil || len(infos) != 1 {
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
