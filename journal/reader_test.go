package journal_test

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
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
func TestSyncedIsWhatTheMarksCover(t *testing.T) {
	for _, archived := range []bool{false, true} {
		dir := newDir(t)
		id := newJournal(t, dir, 0)
		want := []uint64{0, 0, 0, 3, 3, 3, 3, 7, 7, 7, 7, 7, lastSynced, lastSynced, lastSynced}
		if archived {
			must(t, dir.Archive(t.Context(), id))
			want = []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
		}
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		defer r.Close()
		var got []uint64
		for _, err := range r.Scan() {
			must(t, err)
			got = append(got, r.Synced())
		}
		if !slices.Equal(got, want) {
			t.Errorf("archived %v: synced %v, want %v", archived, got, want)
		}
	}
}

func TestCheckFileOfWhatHasNoChecksum(t *testing.T) {
	dir := newDir(t)
	live, foreign := newJournal(t, dir, 0), dir.NewID()
	writeFile(t, archivePath(dir, foreign), []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0, 1, 0, 0}) // an empty frame
	for _, id := range []string{live, foreign} {
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		defer r.Close()
		must(t, r.CheckFile(t.Context()))
	}
}

func TestCheckChainStopsWithinAJournal(t *testing.T) {
	disk := &hooks{FS: noSyncFS{vfs.OS}}
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

func TestStopWithEndsReading(t *testing.T) {
	for _, archived := range []bool{false, true} {
		dir := newDir(t)
		id := newJournal(t, dir, 300)
		end := positions(validEvents(t, dir, id))[lastSynced]
		if archived {
			must(t, dir.Archive(t.Context(), id))
		}
		r, err := dir.Reader(id, journal.Position{})
		must(t, err)
		defer r.Close()
		ctx, cancel := context.WithCancel(t.Context())
		r.StopWith(ctx)
		read := map[string]func() error{
			"End":    func() error { _, err := r.End(); return err },
			"Find":   func() error { _, err := r.Find(lastSynced); return err },
			"After":  func() error { return firstError(r.After(journal.Position{})) },
			"Before": func() error { return firstError(r.Before(end)) },
		}
		for name, read := range read {
			if err := read(); err != nil {
				t.Errorf("archived %v: %s fails before: %v", archived, name, err)
			}
		}
		cancel()
		for name, read := range read {
			if err := read(); !errors.Is(err, context.Canceled) {
				t.Errorf("archived %v: %s returns %v", archived, name, err)
			}
		}
	}
}

// firstError returns the error that ends a sequence.
func firstError(events iter.Seq2[journal.Event, error]) error {
	for _, err := range events {
		if err != nil {
			return err
		}
	}
	return nil
}
