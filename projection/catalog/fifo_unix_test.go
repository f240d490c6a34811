//go:build !windows

package catalog_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Opening a named pipe as package os does would wait for a writer.
func TestNamedPipesAsCachesAreIgnored(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	put(t, team, id(1), chat(id(1), "kitchen", "Repair", 5)...)
	want, _ := load(t, team, id(1))
	history := filepath.Join(team.Journals().Path(), "retention.jsonl")
	for _, path := range []string{indexOf(team), checkpointOf(team, id(1)), history} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if state, loaded := load(t, team, id(1)); state != want || loaded.From != (journal.Position{}) {
		t.Errorf("loaded %+v:\n%s", loaded, state)
	}
	if sessions := list(t, c); len(sessions) != 1 || sessions[0].Title != "Repair" {
		t.Errorf("listed %+v", sessions)
	}
	keep(t, team, id(1))
	if _, loaded := load(t, team, id(1)); loaded.From == (journal.Position{}) {
		t.Error("the pipe was not replaced by a checkpoint")
	}
}
