package catalog_test

import (
	"bytes"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/schemas"
	"github.com/google/go-cmp/cmp"
)

func TestFlipsInCheckpointChangeNothing(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	want, _ := load(t, team, id(1))
	keep(t, team, id(1))
	if _, loaded := load(t, team, id(1)); loaded.From != end {
		t.Fatalf("the checkpoint is not used: %+v", loaded)
	}
	sound := read(t, checkpointOf(team, id(1)))
	random := rand.New(rand.NewPCG(15, 5))
	for range 500 {
		damaged := bytes.Clone(sound)
		at := random.IntN(len(damaged))
		damaged[at] ^= 1 << random.IntN(8)
		write(t, checkpointOf(team, id(1)), damaged)
		if state, loaded := load(t, team, id(1)); state != want || loaded.From != (journal.Position{}) {
			t.Fatalf("byte %d changed:\n%s\nloaded from %+v:\n%s", at, damaged, loaded.From, cmp.Diff(want, state))
		}
	}
}

func TestCheckpointOfEarlierVersionIsReplaced(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	keep(t, team, id(1))
	path := checkpointOf(team, id(1))
	withSum := read(t, path)
	write(t, path, append(bytes.Clone(withSum[:bytes.LastIndex(withSum, []byte(`,"checksum"`))]), "}\n"...))
	if _, loaded := load(t, team, id(1)); loaded.From != (journal.Position{}) {
		t.Errorf("loaded from %+v", loaded.From)
	}
	keep(t, team, id(1))
	if _, loaded := load(t, team, id(1)); loaded.From != end {
		t.Errorf("loaded from %+v, not from %+v", loaded.From, end)
	}
}

func TestCheckpointDoesNotChangeTheRecordedTeam(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "session.resumed", 5)...)
	resumed := projection.SessionResumed{Source: &projection.Source{Path: "/home/mia/team.json", SHA256: "ab"}}
	if err := team.Append(ctx, id(1), projection.Record(created, resumed)); err != nil {
		t.Fatal(err)
	}
	keep(t, team, id(1))
	path := checkpointOf(team, id(1))
	change(t, path, "/home/mia/team.json", "/tmp/evil.json")
	write(t, path, withChecksum(read(t, path)))
	if state, _, err := team.Load(ctx, id(1)); err != nil || state.Team.Source.Path != "/tmp/evil.json" {
		t.Fatalf("the checkpoint is not used: %+v, %v", state, err)
	}
	recorded, err := team.RecordedTeam(ctx, id(1))
	if err != nil || recorded.ID != "kitchen" || recorded.Source == nil || *recorded.Source != *resumed.Source {
		t.Errorf("%+v, %v", recorded, err)
	}
}

func TestLoadFromCheckpoint(t *testing.T) {
	disk := watch()
	c := catalog.New(t.TempDir(), journal.Options{FS: disk})
	team := c.Team("kitchen")
	end := put(t, team, id(1), chat(id(1), "kitchen", "Repair", 4000)...)
	if at := keep(t, team, id(1)); at != end {
		t.Fatalf("the checkpoint is at %v, not %v", at, end)
	}
	after := add(t, team, id(1), end, said(5000, ada, "the end"))
	disk.forget()
	state, loaded, err := team.Load(ctx, id(1))
	if err != nil || state.Row.MessageCount != 4001 {
		t.Fatalf("%+v, %v", state, err)
	}
	if loaded.From != end || loaded.At != after {
		t.Errorf("loaded from %v to %v, not from %v to %v", loaded.From, loaded.At, end, after)
	}
	if _, bytes := disk.journals(); bytes > 20<<10 {
		t.Errorf("%d bytes of %d were read", bytes, end.Offset)
	}
}

func TestCheckpointMatchesSchema(t *testing.T) {
	team := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	golden := read(t, filepath.Join("..", "testdata", "journals", "v1.jsonl"))
	var length int
	for line := range bytes.Lines(golden) {
		length += len(line)
		write(t, live(team, id(1)), golden[:length])
		at := keep(t, team, id(1))
		if err := schemas.Check(schemas.Checkpoint, read(t, checkpointOf(team, id(1)))); err != nil {
			t.Errorf("after event %d: %v", at.Seq, err)
		}
	}
}
