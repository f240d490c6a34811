package sessions

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/conversation/conversationtest"
)

// A replay decodes each event once, and one that prints the events as they are decodes none. From an event, those that
// start a turn or are messages are decoded before, back to the message that precedes the turns that are open there.
func TestReplayDecodesEachEventOnce(t *testing.T) {
	home := t.TempDir()
	payloads, _ := conversationtest.AtOnce(4)
	dir := journal.NewDir(filepath.Join(home, "sessions", "kitchen"), journal.Options{})
	if err := conversationtest.Write(dir, apptest.AliceID, payloads...); err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Find(context.Background(), catalog.LatestName); err != nil { // the index has the session now
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		run  func(*app.App) error
		want int
	}{
		"text":          {(&Replay{Output: "text"}).Run, len(payloads)},
		"a terminal":    {onTerminal, len(payloads)},
		"JSON":          {(&Replay{Output: "json"}).Run, len(payloads)},
		"events":        {(&Replay{Output: "events"}).Run, 0},
		"a snapshot":    {(&Replay{Output: "snapshot"}).Run, len(payloads)},
		"tail":          {(&Tail{N: 5, Output: "text"}).Run, 5},
		"from an event": {(&Replay{From: "20", Output: "text"}).Run, len(payloads) + 4},
	} {
		before := projection.Decodings()
		if err := test.run(a); err != nil {
			t.Fatal(err)
		}
		if got := projection.Decodings() - before; got != uint64(test.want) {
			t.Errorf("%s: %d decodings of %d events, want %d", name, got, len(payloads), test.want)
		}
	}
}
