package interchange

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// fileSource returns a file of this machine.
func fileSource(path string) Source {
	return Source{
		Path: path,
		Open: func() (io.ReadCloser, error) { return os.Open(path) },
		File: func(path string) (Source, bool) { return fileSource(path), true },
		List: func(dir string) []fs.DirEntry {
			entries, _ := os.ReadDir(dir)
			return entries
		},
	}
}

func TestRolloutsAreFoundByTheirNames(t *testing.T) {
	const id = "019a7f2e-0000-7000-8000-000000000001"
	root := t.TempDir()
	for name, found := range map[string]bool{
		"2026/11/21/rollout-2026-11-21T02-30-23-" + id + ".jsonl": true, "rollout-" + id[:28] + ".jsonl": false,
		"other-" + id + ".jsonl": false, "rollout-x-" + id: false,
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		paths := codexSubagents(fileSource(filepath.Join(root, "rollout.jsonl")))("", id)
		if (len(paths) == 1) != found || found && paths[0] != path {
			t.Errorf("%s: found %v", name, paths)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// A thread of Codex that continues in a second file is one session.
func TestThreadContinuesInAnotherFile(t *testing.T) {
	const id = "019a7f2e-0000-7000-8000-000000000001"
	root := t.TempDir()
	meta := func(more string) string {
		return `{"timestamp":"2026-11-21T12:00:00Z","type":"session_meta","payload":{"id":"` + id + `"` + more + "}}\n"
	}
	says := func(role, text string) string {
		return `{"timestamp":"2026-11-21T12:00:01Z","type":"response_item","payload":{"type":"message","role":"` + role +
			`","content":[{"type":"input_text","text":"` + text + `"}]}}` + "\n"
	}
	first := meta("") + says("user", "go") + says("assistant", "done")
	base := func(thread string) string {
		return fmt.Sprintf(`,"history_base":{"thread_id":%q,"end_byte_offset":%d}`, thread, len(first))
	}
	read := func(name, text string) (*Session, []string) {
		path := filepath.Join(root, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Transcript("codex", fileSource(path), projection.App{Name: "test", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		for r, err := range s.Records() {
			if err != nil {
				t.Fatal(err)
			}
			p, _ := projection.Decode(journal.Event{Type: r.Type, Data: r.Data})
			if m, ok := p.(projection.MessageAppended); ok {
				texts = append(texts, m.Message.Content)
			}
		}
		return s, texts
	}
	a, _ := read("rollout-2026-11-21T12-00-00-"+id+".jsonl", first+says("user", "beyond the base"))
	b, texts := read("rollout-2026-11-21T13-00-00-"+id+".jsonl", meta(base(id))+says("user", "on"))
	if got := strings.Join(texts, " "); a.ID != b.ID || got != "go done on" {
		t.Errorf("%s and %s: %s", a.ID, b.ID, got)
	}
	_, texts = read("rollout-2026-11-21T14-00-00-"+id+".jsonl", meta(`,"history_base":{}`)+says("user", "and on"))
	if got := strings.Join(texts, " "); got != "go done on and on" {
		t.Errorf("the third file: %s", got)
	}
	if _, texts = read("rollout-2026-11-21T15-00-00-"+id+".jsonl", meta(base("019a7f2e-0000-7000-8000-000000000002"))+
		says("user", "fork")); len(texts) != 1 {
		t.Errorf("a fork of another thread has %q", texts)
	}
}

func TestAgentsAreNamedByTheirFiles(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"agent-a1.meta.json": `{"toolUseID":"t1"}`, "agent-a2.meta.json": `{"toolUseID":""}`,
		"agent-a3.meta.json": `{"toolUseID":"t3"`, "agent-a4.jsonl": `{"toolUseID":"t4"}`,
		"a5.meta.json":       `{"toolUseID":"t5"}`,
		"agent-a6.meta.json": `{"toolUseID":"t6"}` + strings.Repeat(" ", 1<<20-len(`{"toolUseID":"t6"}`)),
		"agent-a7.meta.json": `{"toolUseID":"t7"}` + strings.Repeat(" ", 1<<20),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := fmt.Sprint(fileSource("").readClaudeAgents(dir)); got != "map[t1:a1 t6:a6]" {
		t.Errorf("got %s", got)
	}
}
