package journal_test

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

func TestReaderOfLogSharesItsFile(t *testing.T) {
	dir := newDir(t)
	written := mustCreate(t, dir)
	mustAppend(t, written, batch(1, 3, 0)...)
	must(t, written.Close())
	disk := journaltest.New(vfs.OS)
	l := mustOpen(t, journal.NewDir(dir.Path(), journal.Options{FS: disk}), written.ID())
	opened := disk.Count(journaltest.Open)
	count := func() (n int) {
		r, err := l.Reader(journal.Position{})
		must(t, err)
		defer r.Close()
		for _, err := range r.All() {
			must(t, err)
			n++
		}
		return n
	}
	for range 2 {
		if n := count(); n != 3 {
			t.Errorf("%d events before an append, want 3", n)
		}
	}
	mustAppend(t, l, counted(4, 0))
	if n := count(); n != 4 {
		t.Errorf("%d events after an append, want 4", n)
	}
	if n := disk.Count(journaltest.Open) - opened; n != 0 {
		t.Errorf("%d files were opened after Open", n)
	}
	must(t, l.Close())
	if _, err := l.Reader(journal.Position{}); err == nil {
		t.Error("a closed Log has a reader")
	}
}

func TestReaderAfterFailedFirstAppend(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	disk := journaltest.New(vfs.OS)
	l := mustOpen(t, journal.NewDir(dir.Path(), journal.Options{FS: disk}), id)
	disk.FailFrom(1, syscall.EIO, journaltest.Sync)
	if _, err := l.Append(counted(16, 0)); !errors.Is(err, syscall.EIO) {
		t.Fatal("Append:", err)
	}
	r, err := l.Reader(journal.Position{})
	must(t, err)
	n := 0
	for _, err := range r.All() {
		must(t, err)
		n++
	}
	must(t, r.Close())
	if n != 15 {
		t.Errorf("%d events, want 15", n)
	}
	disk.Heal()
	mustAppend(t, l, counted(16, 0))
}

func TestAppendToARemovedJournal(t *testing.T) {
	dir := newDir(t)
	id := newJournal(t, dir, 0)
	l := mustOpen(t, dir, id)
	data := readFile(t, l.Path())
	programtest.SkipOnWindows(t, os.Remove(l.Path()))
	if _, err := l.Append(counted(16, 0)); !errors.Is(err, journal.ErrNotFound) {
		t.Fatalf("Append: %v", err)
	}
	writeFile(t, l.Path(), data) // restored from a backup
	other, err := vfs.LockFile(vfs.OS, l.Path())
	must(t, err)
	if _, err := l.Append(counted(16, 0)); !errors.Is(err, journal.ErrLocked) {
		t.Errorf("while another program has it locked: %v", err)
	}
	must(t, other.Close())
	mustAppend(t, l, counted(16, 0))
	must(t, l.Close())
	if n := len(validEvents(t, dir, id)); n != 16 {
		t.Errorf("%d events", n)
	}
}

func TestAppendWritesToTheFileWithTheName(t *testing.T) {
	dir := newDir(t)
	written := mustCreate(t, dir)
	mustAppend(t, written, batch(1, 3, 0)...)
	must(t, written.Close())
	l := mustOpen(t, dir, written.ID())
	data, err := os.ReadFile(l.Path())
	must(t, err)
	replacement := filepath.Join(dir.Path(), "replacement")
	must(t, os.WriteFile(replacement, data, 0o600))
	programtest.SkipOnWindows(t, os.Rename(replacement, l.Path()))
	mustAppend(t, l, counted(4, 0))
	after, err := os.ReadFile(l.Path())
	must(t, err)
	if len(after) <= len(data) {
		t.Error("the event was appended to the replaced file")
	}
}
