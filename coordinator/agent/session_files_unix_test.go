//go:build unix

package agent_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func TestSessionFiles(t *testing.T) {
	const id, other = "5f0c4e1a-0b6f-4a55-9a37-0d1a3f9a8b11", "01a223a9-626b-7fb3-af0a-9d6dfb1ad9ec"
	home := t.TempDir()
	at := func(name string) string { return filepath.Join(home, filepath.FromSlash(name)) }
	for _, name := range []string{
		".claude/projects/-work/" + id + ".jsonl", ".claude/projects/-play/" + id + ".jsonl",
		".claude/projects/-work/" + other + ".jsonl",
		".codex/sessions/2026/11/28/rollout-2026-11-28T19-37-13-" + id + ".jsonl",
		".codex/archived_sessions/rollout-2026-11-28T19-37-13-" + id + ".jsonl.zst",
		".codex/sessions/2026/11/28/rollout-2026-11-28T19-37-13-" + other + ".jsonl",
		"[x]/sessions/2026/11/28/rollout-2026-11-28T19-37-13-" + id + ".jsonl",
	} {
		if err := os.MkdirAll(filepath.Dir(at(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at(name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at(".claude/projects/-fifo"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(at(".claude/projects/-fifo/"+id+".jsonl"), 0o600); err != nil {
		t.Fatal(err)
	}
	m := agent.Member{Env: map[string]string{"HOME": home}}
	moved := agent.Member{Env: map[string]string{"HOME": home, "CODEX_HOME": "[x]"}}
	for _, test := range []struct {
		engine string
		member agent.Member
		id     string
		want   []string
	}{
		{"claude", m, id, []string{".claude/projects/-play/" + id + ".jsonl", ".claude/projects/-work/" + id + ".jsonl"}},
		{"codex", m, id, []string{
			".codex/archived_sessions/rollout-2026-11-28T19-37-13-" + id + ".jsonl.zst",
			".codex/sessions/2026/11/28/rollout-2026-11-28T19-37-13-" + id + ".jsonl",
		}},
		{"codex", moved, id, []string{"[x]/sessions/2026/11/28/rollout-2026-11-28T19-37-13-" + id + ".jsonl"}},
		{"claude", m, "../-work/" + id, nil},
		{"codex", m, "*", nil},
		{"claude", m, "", nil},
		{"acp", m, id, nil},
	} {
		got := agent.SessionFiles(test.engine, test.member, home, test.id)
		slices.Sort(got)
		for i := range test.want {
			test.want[i] = at(test.want[i])
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s %q: %q, want %q", test.engine, test.id, got, test.want)
		}
	}
}
