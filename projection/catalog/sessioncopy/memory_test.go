package sessioncopy_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// maxHeld is the limit of unsynced bytes: a copy is synced after 8 MiB, which a batch of
// 1 MiB and one message exceed by less than 4 MiB.
const maxHeld = 12 << 20

// unsyncedFS records the largest number of unsynced bytes of a file. A journal.Log
// keeps those bytes in memory.
type unsyncedFS struct {
	vfs.FS
	most int
}

func (u *unsyncedFS) OpenFile(name string, flag int, perm fs.FileMode) (vfs.File, error) {
	f, err := u.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &unsyncedFile{File: f, fs: u}, nil
}

type unsyncedFile struct {
	vfs.File
	fs       *unsyncedFS
	unsynced int
}

func (f *unsyncedFile) Write(b []byte) (int, error) {
	f.unsynced += len(b)
	f.fs.most = max(f.fs.most, f.unsynced)
	return f.File.Write(b)
}

// Sync syncs nothing: the test has no power cut.
func (f *unsyncedFile) Sync() error {
	f.unsynced = 0
	return nil
}

func TestForkHoldsFewMegabytes(t *testing.T) {
	racetest.SkipSequential(t)
	disk := &unsyncedFS{FS: vfs.OS}
	_, dir := newTeam(t, journal.Options{FS: disk})
	records := []journal.Record{header(id(1))}
	for i := range 40 {
		records = append(records, message(i+1, mia, strings.Repeat("word ", 200_000)))
	}
	end := put(t, dir, id(1), records...)
	fork, err := sessioncopy.Fork(ctx, dir, id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if disk.most > maxHeld {
		t.Errorf("%d bytes of %d were held", disk.most, end.Offset)
	}
	if s, err := dir.Session(ctx, fork); err != nil || s.MessageCount != 40 {
		t.Errorf("the copy has %d messages, %v", s.MessageCount, err)
	}
}

func TestImportEventsHoldsFewMegabytes(t *testing.T) {
	racetest.SkipSequential(t)
	disk := &unsyncedFS{FS: vfs.OS}
	_, dir := newTeam(t, journal.Options{FS: disk})
	texts := []string{"hello"}
	const more = 30 // messages in each import: the first creates the session, the second extends it
	for range 2 {
		for range more {
			texts = append(texts, strings.Repeat("word ", 200_000))
		}
		if written, err := importEvents(t, dir, texts...); written < more || err != nil {
			t.Fatalf("wrote %d messages, %v", written, err)
		}
		if disk.most > maxHeld {
			t.Errorf("%d bytes were held", disk.most)
		}
	}
	if s, err := dir.Session(ctx, id(1)); err != nil || s.MessageCount != len(texts) {
		t.Errorf("%d messages, %v", s.MessageCount, err)
	}
}
