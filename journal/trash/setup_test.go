package trash_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func atNoon() time.Time { return noon }

func newDir(t testing.TB) *journal.Dir {
	return journal.NewDir(filepath.Join(t.TempDir(), "journals"),
		journal.Options{FS: noSyncFS{vfs.OS}, Now: atNoon})
}

// noSyncFS is a file system that syncs nothing: these tests cut no power, and
// thousands of syncs take minutes.
type noSyncFS struct{ vfs.FS }

func (q noSyncFS) SyncDir(string) error { return nil }

func (q noSyncFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := q.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return noSyncFile{f}, nil
}

type noSyncFile struct{ vfs.File }

func (noSyncFile) Sync() error { return nil }

// counted returns the record that counts n, with padding of a given size.
func counted(n, padding int) journal.Record {
	data := fmt.Sprintf(`{"n":%d,"pad":"%s"}`, n, strings.Repeat("x", padding))
	return journal.Record{Type: "sheep.counted", Data: json.RawMessage(data)}
}

// batch returns the records that count from first to last.
func batch(first, last, padding int) (records []journal.Record) {
	for n := first; n <= last; n++ {
		records = append(records, counted(n, padding))
	}
	return records
}

func mustAppend(t testing.TB, l *journal.Log, records ...journal.Record) []journal.Event {
	t.Helper()
	events, err := l.Append(records...)
	if err != nil {
		t.Fatal("Append:", err)
	}
	return events
}

func mustOpen(t testing.TB, dir *journal.Dir, id string) *journal.Log {
	t.Helper()
	l, err := dir.Open(t.Context(), id)
	if err != nil {
		t.Fatal("Open:", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func mustCreate(t testing.TB, dir *journal.Dir) *journal.Log {
	t.Helper()
	l, err := dir.Create(dir.NewID())
	if err != nil {
		t.Fatal("Create:", err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newJournal creates a closed journal of 15 events in 4 batches.
func newJournal(t testing.TB, dir *journal.Dir, padding int) (id string) {
	t.Helper()
	l := mustCreate(t, dir)
	for _, b := range [][2]int{{1, 3}, {4, 7}, {8, 12}, {13, 15}} {
		mustAppend(t, l, batch(b[0], b[1], padding)...)
		must(t, l.Sync())
	}
	must(t, l.Close())
	return l.ID()
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o700))
	must(t, os.WriteFile(name, data, 0o600))
}

func appendFile(t testing.TB, name string, data []byte) {
	t.Helper()
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	_, err = f.Write(data)
	must(t, err)
	must(t, f.Close())
}

func filesIn(t testing.TB, dir string) (names []string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(name))
		}
		return err
	}))
	return names
}

// validEvents returns the events of a journal, which must be valid to its end.
func validEvents(t testing.TB, dir *journal.Dir, id string) (events []journal.Event) {
	t.Helper()
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	for e, err := range r.All() {
		must(t, err)
		events = append(events, e)
	}
	if torn := r.Torn(); torn.Bytes > 0 {
		t.Fatalf("after %d events: torn %+v", len(events), torn)
	}
	return events
}

// archive archives a journal.
func archive(t testing.TB, dir *journal.Dir, id string) {
	t.Helper()
	l, err := dir.Open(t.Context(), id)
	must(t, err)
	must(t, l.Archive(t.Context()))
}
