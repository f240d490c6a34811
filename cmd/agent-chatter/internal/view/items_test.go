package view

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
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
		dir := journal.NewDir(t.TempDir(), journal.Options{})
		log, err := dir.Create(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if _, err := log.Append(journal.Record{Type: e.Type, Time: e.Time, Data: e.Data}); err != nil {
				t.Fatal(err)
			}
		}
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		reader, err := dir.Reader(id, journal.Position{})
		if err != nil {
			t.Fatal(err)
		}
		defer reader.Close()
		end, _, err := conversation.End(reader, journal.Position{})
		if err != nil {
			t.Fatal(err)
		}
		newest, err := conversation.Newest(t.Context(), reader, end, membersOf(events).Speakers(), 6)
		if err != nil {
			t.Fatal(err)
		}
		var tr Transcript
		var blocks []Block
		for _, i := range newest {
			blocks = append(blocks, tr.Item(i)...)
		}
		got, want := callLines(blocks), callLines(fold(events))
		want = want[len(want)-min(len(got), len(want)):] // the oldest ones are not among the newest
		if !slices.Equal(got, want) {
			t.Errorf("%s: restored are\n%s\nlive\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		shown += len(got)
	}
	if shown == 0 {
		t.Error("no session has a tool call")
	}
}
