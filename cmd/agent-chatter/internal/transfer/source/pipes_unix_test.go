//go:build unix

package source

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func mkfifo(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPipesAreNoSubagents(t *testing.T) {
	ctx, home := t.Context(), t.TempDir()
	session := filepath.Join(home, "s.jsonl")
	mkfifo(t, filepath.Join(home, "s", "subagents", "agent-a.meta.json"))
	mkfifo(t, filepath.Join(home, "s", "subagents", "agent-a.jsonl"))
	mkfifo(t, filepath.Join(home, "s", "a.jsonl"))
	rollout := filepath.Join(home, "rollout-2026-11-21T12-00-00-01234567-89ab-7def-8123-456789abcdef.jsonl")
	mkfifo(t, rollout)
	for name, find := range map[string]subagentFunc{
		"claude": claudeSubagents(ctx, session), "gemini": geminiSubagents(ctx, session),
		"codex": codexSubagents(ctx, session),
	} {
		for _, id := range []string{"a", "01234567-89ab-7def-8123-456789abcdef"} {
			if _, found := find("t", id); found {
				t.Errorf("%s: a pipe is subagent %s", name, id)
			}
		}
	}
}
