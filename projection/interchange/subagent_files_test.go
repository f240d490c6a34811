package interchange

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
