package transfer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Only a file where its program keeps it names a session that a member continues: another one may have been changed.
func TestOriginsAreThoseOfThisMachine(t *testing.T) {
	const id = "5f0c4e1a-0b6f-4a55-9a37-0d1a3f9a8b11"
	claude := t.TempDir()
	t.Setenv("CLAUDE_CONFIG_DIR", claude)
	text := fmt.Sprintf(`{"type":"user","uuid":"u1","sessionId":%q,"timestamp":"2026-11-21T12:00:00Z",`+
		`"message":{"content":"hello"}}`+"\n", id)
	own := filepath.Join(claude, "projects", "-work", id+".jsonl")
	for path, want := range map[string]bool{
		own:                                     true,
		filepath.Join(t.TempDir(), id+".jsonl"): false,
		filepath.Join(filepath.Dir(own), "of-another-name.jsonl"): false,
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		home := t.TempDir()
		if _, stderr, code := runCommand(t, home, &Import{Path: []string{path}, Format: "auto"}); code != 0 {
			t.Fatal(stderr)
		}
		dir := catalog.New(filepath.Join(home, "sessions"), journal.Options{}).Team("claude")
		infos, err := dir.Journals().List(context.Background())
		if err != nil || len(infos) != 1 {
			t.Fatalf("%d sessions, %v", len(infos), err)
		}
		state, _, err := dir.Load(context.Background(), infos[0].ID)
		if err != nil {
			t.Fatal(err)
		}
		if got := state.Origin != nil; got != want {
			t.Errorf("%s: the origin is %+v", path, state.Origin)
		}
	}
}
