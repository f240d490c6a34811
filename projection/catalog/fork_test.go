package catalog_test

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// weighed is a disk that notes how much was written at most between two syncs of
// a file: so much of it a Log has in memory.
type weighed struct {
	journal.FS
	most int
}

func (w *weighed) OpenFile(name string, flag int, perm fs.FileMode) (journal.File, error) {
	f, err := w.FS.OpenFile(name, flag, perm)
	if err != nil {
		return nil, err
	}
	return &weighedFile{File: f, disk: w}, nil
}

type weighedFile struct {
	journal.File
	disk   *weighed
	behind int
}

func (f *weighedFile) Write(b []byte) (int, error) {
	f.behind += len(b)
	f.disk.most = max(f.disk.most, f.behind)
	return f.File.Write(b)
}

func (f *weighedFile) Sync() error {
	f.behind = 0
	return nil // nobody takes the power away
}

func TestAForkHoldsAFewMegabytesHoweverLongTheSessionIs(t *testing.T) {
	disk := &weighed{FS: journal.OS}
	team := catalog.New(t.TempDir(), journal.Options{FS: disk}).Team("kitchen")
	records := []journal.Record{begun(id(1), "kitchen")}
	for i := range 40 {
		records = append(records, said(i+1, mia, strings.Repeat("word ", 200_000)))
	}
	end := put(t, team, id(1), records...)
	fork, err := team.Fork(id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	if disk.most > 12<<20 {
		t.Errorf("%d bytes of %d were held", disk.most, end.Offset)
	}
	if s, err := team.Session(fork); err != nil || s.MessageCount != 40 {
		t.Errorf("the copy has %d messages, %v", s.MessageCount, err)
	}
}
