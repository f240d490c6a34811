package projection_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/schemas"
)

var update = flag.Bool("update", false, "rewrite the golden files, except the journals")

// The journals in testdata are never changed: each was written by a version of the
// program and must keep its meaning. v1.jsonl has every type of event of the first
// version, and an unknown one. v1-2.jsonl has those that were added since, and both
// versions of turn.ended. at-once.jsonl has turns that are open at the same time, two of them
// of one member, the turns of messages, and a wait for a person.
// bypassed.jsonl has tools that were used without the permission that they need.
// attached.jsonl has sessions of agents: new, continued, resumed, and after a turn that was cancelled.
// asked.jsonl has questions of an agent, answered and refused, one with a secret.
// steered.jsonl has messages that an agent took in its turn, did not take, and took in a turn that was cancelled.
// files.jsonl has messages with files.
// imported.jsonl has the origin of a session of another program.
// budget.jsonl has the limits of two runs, one of which ends a turn.
// limits.jsonl has changes of limits, one from two machines.
// filechanges.jsonl has captures of files, what turns changed, and a restore.
// restores.jsonl has restores of files: one that names what it set back, one that was interrupted.
// dropped.jsonl has captures of files whose contents were removed, and a capture of the same files afterwards.
// panel.jsonl has turns that were started at the same time: the second one ends first, the first one was interrupted.
// devices.jsonl has messages and answers that were entered on another device.
// worktrees.jsonl has directories of members: one with a merge, one that was removed and created again.
// members.jsonl has changes of members, one from two machines.
var goldenJournals = []string{
	"v1", "v1-2", "at-once", "bypassed", "attached", "asked", "steered", "imported", "budget", "files",
	"members", "limits", "filechanges", "restores", "panel", "dropped", "worktrees",
	"devices",
}

func TestGoldenJournalsHaveEveryTypeOfEvent(t *testing.T) {
	var found []string
	for _, name := range goldenJournals {
		for _, e := range golden(t, name) {
			found = append(found, e.Type)
		}
	}
	for _, p := range everyPayload() {
		if name := projection.Record(created, p).Type; !slices.Contains(found, name) {
			t.Errorf("no %s in it", name)
		}
	}
	if !slices.Contains(found, "water.poured") {
		t.Error("it has no unknown type")
	}
}

func TestGoldenJournalsAreValid(t *testing.T) {
	for _, name := range goldenJournals {
		data, err := os.ReadFile("testdata/journals/" + name + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n")) {
			if err := schemas.Check(schemas.JournalEvent, line); err != nil {
				t.Errorf("%s, line %d: %v", name, i+1, err)
			}
		}
	}
}

func TestGoldenState(t *testing.T) {
	for _, name := range goldenJournals {
		state, err := json.MarshalIndent(fold(golden(t, name)...), "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		compareGolden(t, name+".state.json", append(state, '\n'))
	}
}

func TestGoldenSnapshot(t *testing.T) {
	for _, name := range goldenJournals {
		events := golden(t, name)
		var snapshot bytes.Buffer
		if err := projection.WriteSnapshot(&snapshot, fold(events...), each(events)); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, name+".snapshot.json", snapshot.Bytes())
		if err := schemas.Check(schemas.SessionSnapshot, snapshot.Bytes()); err != nil {
			t.Error(err)
		}
	}
}

// golden reads a golden journal as the program does.
func golden(t testing.TB, name string) []journal.Event {
	t.Helper()
	r, err := journal.NewDir("testdata/journals", journal.Options{}).Reader(name, journal.Position{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var events []journal.Event
	for e, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
	if torn := r.Torn(); torn.Bytes > 0 {
		t.Fatalf("the golden journal has a torn tail: %+v", torn)
	}
	return events
}

func compareGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata/journals", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func TestDocNamesEveryEventType(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range projection.EventTypes() {
		if !bytes.Contains(doc, []byte(name)) {
			t.Errorf("doc.go does not name %s", name)
		}
	}
}
