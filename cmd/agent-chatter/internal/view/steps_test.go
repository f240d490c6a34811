package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// callLines returns the lines of each tool call.
func callLines(blocks []Block) (calls []string) {
	for _, b := range blocks {
		if _, ok := b.content.(Call); ok {
			calls = append(calls, strings.Join(Render(b, Style{Width: 80}), "\n"))
		}
	}
	return calls
}

func TestRestoredCallsEqualLiveOnes(t *testing.T) {
	const id = "01HZ0000000000000000000000"
	shown := 0
	for name, events := range goldenJournals(t) {
		dir := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
		log, err := dir.Journals().Create(id)
		if err != nil {
			t.Fatal(err)
		}
		state := &projection.State{}
		for _, e := range events {
			if _, err := log.Append(journal.Record{Type: e.Type, Time: e.Time, Data: e.Data}); err != nil {
				t.Fatal(err)
			}
			state.Apply(e)
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		entries := state.Newest()
		var tr Transcript
		var blocks []Block
		calls := CallsOf(dir, id, entries)
		for _, entry := range entries {
			blocks = append(blocks, tr.Entry(entry, calls)...)
		}
		got, want := callLines(blocks), callLines(fold(events))
		want = want[len(want)-min(len(got), len(want)):] // the oldest ones are not in the state
		if !slices.Equal(got, want) {
			t.Errorf("%s: restored are\n%s\nlive\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		shown += len(got)
	}
	if shown == 0 {
		t.Error("no session has a tool call")
	}
}

func TestCallsOfMissingJournalAreUnknown(t *testing.T) {
	dir := catalog.New(t.TempDir(), journal.Options{}).Team("kitchen")
	entries := []projection.Entry{{Seq: 9, Steps: []projection.Step{{Seq: 5, Name: "Bash", Ended: true}}}}
	if calls := CallsOf(dir, "01HZ0000000000000000000000", entries); len(calls) > 0 {
		t.Errorf("%+v", calls)
	}
}
