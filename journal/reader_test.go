package journal_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
)

func TestGrown(t *testing.T) {
	dir := newDir(t)
	l := mustCreate(t, dir)
	mustAppend(t, l, batch(1, 3, 10)...)
	r, err := dir.Reader(l.ID(), journal.Position{})
	must(t, err)
	defer r.Close()
	if r.Grown() {
		t.Error("before anything was appended")
	}
	mustAppend(t, l, counted(4, 0))
	if !r.Grown() {
		t.Error("not after something was appended")
	}
	must(t, l.Close())
	must(t, dir.Archive(t.Context(), l.ID()))
	packed, err := dir.Reader(l.ID(), journal.Position{})
	must(t, err)
	defer packed.Close()
	if packed.Grown() {
		t.Error("an archive")
	}
}

// What was not read is no damage and no torn tail.
func TestCheckChainStopsWithinAJournal(t *testing.T) {
	disk := &hooks{FS: noSyncFS{journal.OS}}
	dir := journal.NewDir(filepath.Join(t.TempDir(), "journals"), journal.Options{FS: disk})
	id := newJournal(t, dir, 100_000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	disk.readAt = func(_ string, end int64) {
		if end > 500_000 {
			cancel()
		}
	}
	r, err := dir.Reader(id, journal.Position{})
	must(t, err)
	defer r.Close()
	err = r.CheckChain(ctx)
	if corrupt := new(journal.CorruptError); !errors.Is(err, context.Canceled) || errors.As(err, &corrupt) {
		t.Errorf("error %v", err)
	}
	if seq := r.Position().Seq; seq == 0 || seq == 15 || r.Torn().Bytes > 0 {
		t.Errorf("it stopped after event %d, torn %+v", seq, r.Torn())
	}
}
