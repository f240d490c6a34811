package sessioncopy_test

import (
	"bytes"
	"errors"
	"iter"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// eventsOf yields the records as events of a journal.
func eventsOf(t testing.TB, records ...journal.Record) iter.Seq2[journal.Event, error] {
	t.Helper()
	var events []journal.Event
	at := journal.Position{}
	for _, r := range records {
		e, next, err := at.Next(r)
		if err != nil {
			t.Fatal(err)
		}
		events, at = append(events, e), next
	}
	return func(yield func(journal.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// failing yields the events and then the error.
func failing(events iter.Seq2[journal.Event, error], err error) iter.Seq2[journal.Event, error] {
	return func(yield func(journal.Event, error) bool) {
		for e := range events {
			if !yield(e, nil) {
				return
			}
		}
		yield(journal.Event{}, err)
	}
}

var fromBundle = projection.SessionImported{Source: "bundle", Path: "/old/all.bundle"}

func importEvents(t testing.TB, dir *catalog.Dir, texts ...string) (written int, err error) {
	t.Helper()
	events := eventsOf(t, conversation(id(1), texts...)...)
	written, _, err = sessioncopy.ImportEvents(ctx, dir, id(1), fromBundle, events)
	return written, err
}

func TestImportEventsAfterCrashIsComplete(t *testing.T) {
	_, source := newTeam(t, journal.Options{})
	if _, err := importEvents(t, source, "hello", "well", "more"); err != nil {
		t.Fatal(err)
	}
	data := read(t, journalOf(source, id(1)))
	at := 0
	for line := range bytes.Lines(data) {
		for _, n := range []int{at, at + len(line)/2, at + len(line) - 1} {
			c, dir := newTeam(t, journal.Options{})
			write(t, journalOf(dir, id(1)), data[:n])
			if _, err := importEvents(t, dir, "hello", "well", "more"); err != nil {
				t.Error(err)
			}
			wantTexts(t, dir, "hello", "well", "more")
			sessions := list(t, c)
			if len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].TeamID != "kitchen" {
				t.Errorf("listed: %+v", sessions)
			}
			if t.Failed() {
				t.Fatalf("after %d bytes", n)
			}
		}
		at += len(line)
	}
}

func TestImportEventsAfterFailureIsComplete(t *testing.T) {
	for _, exists := range []bool{false, true} {
		for n := 1; ; n++ {
			disk := journaltest.New(vfs.OS)
			c, dir := newTeam(t, journal.Options{FS: disk})
			if exists {
				if _, err := importEvents(t, dir, "hello"); err != nil {
					t.Fatal(err)
				}
			}
			disk.FailFrom(n, syscall.EIO)
			written, err := importEvents(t, dir, "hello", "well", "more")
			if err != nil && (written != 0 || !errors.Is(err, syscall.EIO)) {
				t.Errorf("imported %d messages, %v", written, err)
			}
			failed := disk.Failed()
			disk.Heal()
			if _, err := importEvents(t, dir, "hello", "well", "more"); err != nil {
				t.Errorf("repeated: %v", err)
			}
			wantTexts(t, dir, "hello", "well", "more")
			sessions := list(t, c)
			if len(sessions) != 1 || sessions[0].Damaged != "" || sessions[0].MessageCount != 3 {
				t.Errorf("listed: %+v", sessions)
			}
			if t.Failed() {
				t.Fatalf("exists=%v, operation %d failed\n%s", exists, n, disk)
			}
			if !failed {
				break
			}
		}
	}
}

func TestImportEventsCountsMessages(t *testing.T) {
	_, dir := newTeam(t, journal.Options{})
	for _, test := range []struct{ written, total int }{{2, 2}, {1, 3}, {0, 3}} {
		events := eventsOf(t, conversation(id(1), []string{"hello", "well", "more"}[:test.total]...)...)
		written, total, err := sessioncopy.ImportEvents(ctx, dir, id(1), fromBundle, events)
		if written != test.written || total != test.total || err != nil {
			t.Errorf("%d of %d messages, want %d of %d: %v", written, total, test.written, test.total, err)
		}
	}
	var taken []int
	for e, err := range dir.Events(ctx, id(1)) {
		if err != nil {
			t.Fatal(err)
		}
		if p, _ := projection.Decode(e); e.Type == projection.TypeOf(fromBundle) {
			taken = append(taken, p.(projection.SessionImported).Taken)
		}
	}
	if diff := cmp.Diff([]int{2, 1}, taken); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}
}

func TestFailedImportEventsLeavesNoSession(t *testing.T) {
	for _, crashed := range []bool{false, true} {
		c, dir := newTeam(t, journal.Options{})
		if _, err := importEvents(t, dir, "hello", "well", "precious"); err != nil {
			t.Fatal(err)
		}
		if err := dir.Delete(t.Context(), id(1)); err != nil {
			t.Fatal(err)
		}
		if crashed { // an earlier import, before its first event
			write(t, journalOf(dir, id(1)), nil)
		}
		truncated := errors.New("truncated bundle")
		long := append(
			conversation(id(1), "hello"),
			message(2, ada, strings.Repeat("word ", 500_000)),
			message(3, mia, "more"),
		)
		events := failing(eventsOf(t, long...), truncated)
		written, _, err := sessioncopy.ImportEvents(ctx, dir, id(1), fromBundle, events)
		if written != 0 || !errors.Is(err, truncated) {
			t.Errorf("imported %d messages, %v", written, err)
		}
		if sessions := list(t, c); len(sessions) > 0 {
			t.Errorf("%d sessions are listed", len(sessions))
		}
		if err := dir.Restore(t.Context(), id(1)); err != nil {
			t.Fatal(err)
		}
		wantTexts(t, dir, "hello", "well", "precious")
	}
}

// once calls hook before the first operation that changes the disk.
func once(disk *journaltest.FS, hook func()) {
	var first sync.Once
	disk.Before(func() { first.Do(hook) })
}

func TestConcurrentImportsDuplicateNothing(t *testing.T) {
	for name, c := range map[string]struct{ first, second func(*catalog.Dir) error }{
		"ImportEvents": {
			func(dir *catalog.Dir) error { _, err := importEvents(t, dir, "hello"); return err },
			func(dir *catalog.Dir) error { _, err := importEvents(t, dir, "hello", "well"); return err },
		},
		"Import": {
			func(dir *catalog.Dir) error {
				_, err := sessioncopy.Import(ctx, dir, save(t, "hello"), keepSecrets)
				return err
			},
			func(dir *catalog.Dir) error {
				_, err := sessioncopy.Import(ctx, dir, save(t, "hello", "well"), keepSecrets)
				return err
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, disk := t.TempDir(), journaltest.New(vfs.OS)
			dir := catalog.New(root, journal.Options{FS: disk}).Team("kitchen")
			other := catalog.New(root, journal.Options{}).Team("kitchen")
			if err := c.first(dir); err != nil {
				t.Fatal(err)
			}
			once(disk, func() {
				if err := c.second(other); err != nil {
					t.Error(err)
				}
			})
			if err := c.second(dir); !errors.Is(err, catalog.ErrChanged) {
				t.Errorf("the later import: %v", err)
			}
			wantTexts(t, dir, "hello", "well")
			if err := c.second(dir); err != nil {
				t.Errorf("repeated: %v", err)
			}
			wantTexts(t, dir, "hello", "well")
		})
	}
}
