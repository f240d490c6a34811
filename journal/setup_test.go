package journal_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

// testTimeout bounds a test that hangs.
const testTimeout = time.Minute

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

// lastSynced is the last event of a journal from newJournal that a line declares
// synced: that of the batch 13 to 15.
const lastSynced = 12

// newJournal creates a closed journal of 15 events in 4 batches.
func newJournal(t testing.TB, dir *journal.Dir, padding int) (id string) {
	t.Helper()
	l := mustCreate(t, dir)
	for _, b := range [][2]int{{1, 3}, {4, 7}, {8, lastSynced}, {13, 15}} {
		mustAppend(t, l, batch(b[0], b[1], padding)...)
		must(t, l.Sync())
	}
	must(t, l.Close())
	return l.ID()
}

// read returns the events, the torn tail and the error of a Reader. It checks that
// CheckChain ends the same, except at a line with a valid sum that is not an event.
func read(t testing.TB, dir *journal.Dir, id string) (events []journal.Event, torn journal.Torn, err error) {
	t.Helper()
	r, err := dir.Reader(id, journal.Position{})
	if err != nil {
		t.Fatal("Reader:", err)
	}
	defer r.Close()
	for e, failed := range r.All() {
		if err = failed; err == nil {
			events = append(events, e)
		}
	}
	torn, end := r.Torn(), r.Position()
	chainErr := r.CheckChain(t.Context())
	if strings.Contains(fmt.Sprint(err, torn.Reason), "not a JSON object") {
		return events, torn, err
	}
	if fmt.Sprint(chainErr) != fmt.Sprint(err) || r.Torn() != torn || r.Position() != end {
		t.Fatalf("the chain ends with %v, %+v, %+v; the events end with %v, %+v, %+v",
			chainErr, r.Torn(), r.Position(), err, torn, end)
	}
	return events, torn, err
}

// validEvents returns the events of a journal, which must be valid to its end.
func validEvents(t testing.TB, dir *journal.Dir, id string) []journal.Event {
	t.Helper()
	events, torn, err := read(t, dir, id)
	if err != nil || torn.Bytes > 0 {
		t.Fatalf("after %d events: torn %+v, error %v", len(events), torn, err)
	}
	return events
}

func same(t testing.TB, what string, got, want []journal.Event) {
	t.Helper()
	if slices.EqualFunc(want, got, func(a, b journal.Event) bool { return bytes.Equal(a.Line(), b.Line()) }) {
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
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

// splitLines splits a file into lines that keep their newlines.
func splitLines(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	return lines
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

func recoveredIn(t testing.TB, e journal.Event) (r journal.Recovered) {
	t.Helper()
	if e.Type != journal.TypeRecovered {
		t.Fatalf("event %d is a %s, not a %s", e.Seq, e.Type, journal.TypeRecovered)
	}
	must(t, json.Unmarshal(e.Data, &r))
	return r
}

// follower pulls the events of a Follow, one at a time.
type follower struct {
	t    testing.TB
	next func() (journal.Event, error, bool)
}

func follow(t testing.TB, dir *journal.Dir, id string, from journal.Position) *follower {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	next, stop := iter.Pull2(dir.Follow(ctx, id, from))
	t.Cleanup(func() { cancel(); stop() })
	return &follower{t, next}
}

// expect waits for exactly these events.
func (f *follower) expect(want ...journal.Event) {
	f.t.Helper()
	for _, w := range want {
		got, err, ok := f.next()
		if err != nil || !ok {
			f.t.Fatalf("waited for event %d: error %v, more %v", w.Seq, err, ok)
		}
		if diff := cmp.Diff(string(w.Line()), string(got.Line())); diff != "" {
			f.t.Fatalf("waited for event %d (-want +got):\n%s", w.Seq, diff)
		}
	}
}

// end waits for the error that ends the sequence.
func (f *follower) end() error {
	f.t.Helper()
	e, err, ok := f.next()
	if err == nil {
		f.t.Fatalf("waited for an error: event %+v, more %v", e, ok)
	}
	if _, _, ok := f.next(); ok {
		f.t.Error("the sequence continues after its error")
	}
	return err
}

// followUntil follows a journal while it is written, up to the event that counts
// last.
func followUntil(t *testing.T, dir *journal.Dir, id string, last int) <-chan []journal.Event {
	ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
	done := make(chan []journal.Event, 1)
	finished := make(chan struct{})
	t.Cleanup(func() { cancel(); <-finished })
	go func() {
		defer close(finished)
		var events []journal.Event
		for e, err := range dir.Follow(ctx, id, journal.Position{}) {
			if err != nil {
				t.Error("Follow:", err)
				break
			}
			events = append(events, e)
			if e.Type == "sheep.counted" && countIn(t, e) == last {
				break
			}
		}
		done <- events
	}()
	return done
}
