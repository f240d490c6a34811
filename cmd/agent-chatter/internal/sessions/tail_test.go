package sessions

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Damage before the events that are printed does not matter.
func TestTailDoesNotReadOlderEvents(t *testing.T) {
	root := t.TempDir()
	dir := catalog.New(root, journal.Options{}).Team("review")
	log, err := dir.Journals().Create(apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	mia := projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
	for i := range 12 {
		text := strings.Repeat(string(rune('a'+i)), 900<<10)
		r := projection.Record(time.Now(), projection.NewMessage("m", time.Now(), mia, text, nil))
		if _, err := log.Append(r); err != nil {
			t.Fatal(err)
		}
		if err := log.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "review", apptest.AliceID+".jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, bytes.Replace(data, []byte("bbbb"), []byte("bbbx"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for n, first := range map[int]uint64{0: 0, 1: 12, 10: 3} {
		events, end, _, err := (&Tail{N: n}).lastEvents(t.Context(), dir, apptest.AliceID)
		if err != nil || len(events) != n || n > 0 && events[0].Seq != first || end.Seq != 12 {
			t.Errorf("the last %d events: %d, end %d, %v", n, len(events), end.Seq, err)
		}
	}
	events, _, _, err := (&Tail{N: 11}).lastEvents(t.Context(), dir, apptest.AliceID)
	if err == nil || len(events) != 1 || events[0].Seq != 1 {
		t.Errorf("with the damage: %d events, %v", len(events), err)
	}
}
