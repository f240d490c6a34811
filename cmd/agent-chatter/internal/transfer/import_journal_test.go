package transfer

import (
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
)

// A journal that has diverged from its session becomes a copy, whose first event has the id of the copy.
func TestCopyOfAJournalHasItsOwnID(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	ids, err := catalogtest.Sessions{Count: 1}.Fill(root)
	if err != nil {
		t.Fatal(err)
	}
	source := catalog.New(root, journal.Options{}).Team("demo")
	path := filepath.Join(source.Journals().Path(), ids[0]+".jsonl")
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if r := ImportJournal(t.Context(), a, path, false); r.Err != nil || r.ID != ids[0] {
		t.Fatalf("%+v", r)
	}
	for dir, text := range map[*catalog.Dir]string{source: "theirs", a.Catalog.Team("demo"): "ours"} {
		by := projection.Speaker{ID: "mia", Name: "mia", DisplayName: "Mia", Type: projection.TypeHuman}
		message := projection.NewMessage(text, time.Now(), by, text, nil)
		if err := dir.Append(t.Context(), ids[0], projection.Record(time.Now(), message)); err != nil {
			t.Fatal(err)
		}
	}
	original, err := os.ReadFile(filepath.Join(a.Catalog.Team("demo").Journals().Path(), ids[0]+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second import finds nothing new
		r := ImportJournal(t.Context(), a, path, true)
		if want := interchange.CopyID(ids[0], 1); r.Err != nil || r.ID != want {
			t.Fatalf("%+v, want the id %s", r, want)
		}
		for e, err := range a.Catalog.Team("demo").Events(t.Context(), r.ID) {
			if err != nil {
				t.Fatal(err)
			}
			if p, _ := projection.Decode(e); e.Seq == 1 && p.(projection.SessionCreated).SessionID != r.ID {
				t.Errorf("the first event is %s", e.Data)
			}
		}
	}
	if got, err := os.ReadFile(filepath.Join(a.Catalog.Team("demo").Journals().Path(), ids[0]+".jsonl")); err != nil ||
		string(got) != string(original) {
		t.Errorf("the session that exists was changed: %v", err)
	}
}
