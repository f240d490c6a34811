package projectiontest_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
	"github.com/agent-chatter/agent-chatter/schemas"
)

const id = "01KAJ000000000000000000000"

func TestWriteSessionWritesAValidJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), id+".jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	end, err := projectiontest.WriteSession(file, 40, 1)
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	r, err := journal.NewDir(filepath.Dir(path), journal.Options{}).Reader(id, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var state projection.State
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		state.Apply(e)
		if err := schemas.Check(schemas.JournalEvent, e.Line()); err != nil {
			t.Error(err)
		}
	}
	if r.Position() != end || r.Torn().Bytes > 0 {
		t.Errorf("reading ended at %+v, writing at %+v; torn: %+v", r.Position(), end, r.Torn())
	}
	if state.Stats.Messages != 40 || len(state.OpenTurns) > 0 || state.Row.Invalid > 0 {
		t.Errorf("the state has %+v", state.Stats)
	}
	if mean := end.Offset / int64(end.Seq); mean < 1500 || mean > 2500 {
		t.Errorf("lines have %d bytes on average", mean)
	}
}

func TestWriteSessionIsDeterministic(t *testing.T) {
	write := func(seed uint64) []byte {
		var b bytes.Buffer
		if _, err := projectiontest.WriteSession(&b, 20, seed); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	if !bytes.Equal(write(1), write(1)) || bytes.Equal(write(1), write(2)) {
		t.Error("the bytes do not depend on the seed alone")
	}
}

func BenchmarkWriteSession(b *testing.B) {
	for b.Loop() {
		var out bytes.Buffer
		end, err := projectiontest.WriteSession(&out, 1000, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(end.Offset)
	}
}
