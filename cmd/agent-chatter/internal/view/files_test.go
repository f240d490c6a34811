package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func shownFiles(files []File) string {
	var b strings.Builder
	for _, f := range files {
		fmt.Fprintf(&b, "%s\n", f.Path)
		for _, e := range f.Edits {
			old := "all"
			if e.Old != nil {
				old = fmt.Sprintf("%q", *e.Old)
			}
			fmt.Fprintf(&b, " %s -> %q\n", old, e.New)
		}
	}
	return b.String()
}

func TestFilesOfEachAgent(t *testing.T) {
	for _, tt := range []struct{ agent, input, want string }{
		{"Claude Code, Read", `{"file_path":"/a"}`, "/a\n"},
		{"Claude Code, Edit", `{"file_path":"/a","old_string":"a\n","new_string":"b"}`, "/a\n \"a\\n\" -> \"b\"\n"},
		{"Claude Code, MultiEdit", `{"file_path":"/a","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":""}]}`,
			"/a\n \"a\" -> \"b\"\n \"c\" -> \"\"\n"},
		{"Claude Code, Write", `{"file_path":"/a","content":"b"}`, "/a\n all -> \"b\"\n"},
		{"Claude Code, NotebookEdit", `{"notebook_path":"/a.ipynb","new_source":"b"}`, "/a.ipynb\n"},
		{"Codex", `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: c\n@@ f\n a\n-b\n+c\n*** Add File: d\n+e\n*** Delete File: f\n*** End Patch"}`,
			"a\nc\n \"a\\nb\\n\" -> \"a\\nc\\n\"\nd\n all -> \"e\\n\"\nf\n"},
		{"Codex, app server", `[{"path":"a","kind":{"type":"add"},"diff":"-a\n"},{"path":"b","kind":{"type":"delete"},"diff":"b\n"},{"path":"c","kind":{"type":"update"},"diff":"-c\n+d\n"}]`,
			"a\n all -> \"-a\\n\"\nb\n \"b\\n\" -> \"\"\nc\n \"c\\n\" -> \"d\\n\"\n"},
		{"Codex, changes in a field", `{"changes":[{"path":"a","diff":"@@ -1 +1 @@\n-a\n+b\n"},{"path":"b","diff":""}]}`, "a\n \"a\\n\" -> \"b\\n\"\nb\n"},
		{"OpenCode", `{"filePath":"/a","oldString":"a","newString":"b"}`, "/a\n \"a\" -> \"b\"\n"},
		{"Gemini CLI", `{"absolute_path":"/a"}`, "/a\n"},
		{"a patch with the names of its files", `{"patch":"--- a/x\t2026-11-21\n+++ b/x\n@@ -1 +1 @@\n-a\n\n+b\n"}`, "x\n \"a\\n\" -> \"b\\n\"\n"},
		{"a patch that adds a file", `{"patch":"--- /dev/null\n+++ b/x\n+b\n"}`, "x\n \"\" -> \"b\\n\"\n"},
		{"the same file twice", `{"path":"a","changes":[{"path":"a","diff":"+b"}]}`, "a\n \"\" -> \"b\\n\"\n"},
		{"a command", `{"command":"ls"}`, ""},
		{"content without a file", `{"url":"http://a","content":"b"}`, ""},
		{"a patch of another kind", `{"input":"hello"}`, ""},
		{"changes without a path", `{"changes":[{"diff":"+b"}]}`, ""},
		{"no object", `["a"]`, ""},
		{"other types", `{"file_path":1}`, ""},
	} {
		if got := shownFiles(FilesIn(json.RawMessage(tt.input))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.agent, got, tt.want)
		}
	}
}
