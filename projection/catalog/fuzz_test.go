package catalog_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// fuzzed is a catalog with one session, whose caches are replaced by a test.
type fuzzed struct {
	team  *catalog.Dir
	want  []catalog.Session // without caches
	state string
	end   journal.Position
	sums  [][]byte // checksums of the session's lines
	index []byte   // valid but for the modification time
}

func newFuzzed(f *testing.F) fuzzed {
	root := f.TempDir()
	c := catalog.New(root, journal.Options{})
	x := fuzzed{team: c.Team("kitchen")}
	records := chat(id(1), "kitchen", "Repair", 5)
	put(f, x.team, id(1), records...)
	var at journal.Position
	for _, r := range records {
		_, next, err := at.Next(r)
		if err != nil {
			f.Fatal(err)
		}
		at = next
		x.sums = append(x.sums, []byte(at.Sum.String()))
	}
	keep(f, x.team, id(1))
	list(f, c)
	x.index = read(f, indexOf(x.team))
	settle(f, live(x.team, id(1))) // no row of that index describes the file now
	x.want = list(f, c)
	x.state, _ = load(f, x.team, id(1))
	x.end = at
	return x
}

// hasValidSum reports whether a cache has the checksum of a line. It then looks
// genuine, so the test only demands that it does no harm.
func (x fuzzed) hasValidSum(cache []byte) bool {
	for _, sum := range x.sums {
		if bytes.Contains(cache, sum) {
			return true
		}
	}
	return false
}

func FuzzReadIndex(f *testing.F) {
	x := newFuzzed(f)
	index := x.index
	f.Add(index)
	for _, sum := range x.sums {
		index = bytes.ReplaceAll(index, sum, []byte("01234567"))
	}
	f.Add(index)
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(indexOf(x.team), data, 0o600); err != nil {
			t.Fatal(err)
		}
		got := list(t, x.team)
		for i := range got {
			got[i].Truncated = false // only the index knows that
		}
		if !x.hasValidSum(data) {
			sameAnswers(t, answers{Sessions: x.want}, answers{Sessions: got})
		}
	})
}

func FuzzReadCheckpoint(f *testing.F) {
	x := newFuzzed(f)
	genuine := read(f, checkpointOf(x.team, id(1)))
	f.Add(genuine)
	for _, sum := range x.sums {
		genuine = bytes.ReplaceAll(genuine, sum, []byte("01234567"))
	}
	f.Add(genuine)
	f.Fuzz(func(t *testing.T, data []byte) {
		data = withChecksum(data) // almost no input has the right one
		if err := os.WriteFile(checkpointOf(x.team, id(1)), data, 0o600); err != nil {
			t.Fatal(err)
		}
		state, loaded, err := x.team.Load(ctx, id(1))
		if err != nil || loaded.At != x.end {
			t.Fatalf("%v, %v", loaded, err)
		}
		if got := asJSON(t, state); got != x.state && !x.hasValidSum(data) {
			t.Errorf("-want +got:\n%s", cmp.Diff(x.state, got))
		}
	})
}
