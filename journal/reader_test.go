package journal_test

import (
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
