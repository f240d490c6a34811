package view

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
)

func showChanges(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%c%s\n", c.Kind, c.Text)
	}
	return b.String()
}

func TestChangesOfEachAgent(t *testing.T) {
	for _, tt := range []struct{ agent, input, want string }{
		{"Claude Code, Edit", `{"file_path":"/a","old_string":"a\nb\nc\nd","new_string":"a\nB\nc\nd"}`, " a\n-b\n+B\n c\n d\n"},
		{"Claude Code, MultiEdit", `{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"c","new_string":""}]}`, "-a\n+b\n-c\n"},
		{"Claude Code, Write", `{"file_path":"/a","content":"a\n\nb\n"}`, "+a\n+\n+b\n"},
		{"Codex", `{"input":"*** Begin Patch\n*** Update File: a\n@@ f\n a\n-b\n+c\n*** End Patch"}`, " a\n-b\n+c\n"},
		{"Codex, app server", `[{"path":"a","kind":{"type":"update"},"diff":"@@ -1 +1 @@\n-a\n+b\n"}]`, "-a\n+b\n"},
		{"Codex, changes in a field", `{"changes":[{"path":"a","diff":"@@ -1 +1 @@\n-a\n+b\n"}]}`, "-a\n+b\n"},
		{"Codex, a file that is added", `[{"path":"a","kind":{"type":"add"},"diff":"- a\n+b\n"}]`, "+- a\n++b\n"},
		{"Codex, a file that is deleted", `[{"path":"a","kind":{"type":"delete"},"diff":"a\n"}]`, "-a\n"},
		{"a patch that removes a line of dashes", `{"patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n--- a\n+b\n"}`, "--- a\n+b\n"},
		{"OpenCode", `{"filePath":"/a","oldString":"a","newString":"b"}`, "-a\n+b\n"},
		{"Pi", `{"path":"/a","oldText":"a","newText":"b"}`, "-a\n+b\n"},
		{"Gemini CLI", `{"file_path":"a","old_string":"","new_string":"b"}`, "+b\n"},
		{"a patch with the names of its files", `{"patch":"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-a\n\n+b\n"}`, "-a\n+b\n"},
		{"a text before only", `{"old_string":"a"}`, ""},
		{"a command", `{"command":"ls"}`, ""},
		{"a request with content", `{"url":"http://a","content":"b"}`, ""},
		{"a patch of another kind", `{"input":"hello"}`, ""},
		{"no object", `["a"]`, ""},
		{"nothing", ``, ""},
		{"other types", `{"old_string":1,"new_string":"b"}`, ""},
	} {
		if got := showChanges(ChangesIn(json.RawMessage(tt.input))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.agent, got, tt.want)
		}
	}
}

func TestCovers(t *testing.T) {
	for _, tt := range []struct {
		name, field, input string
		want               bool
	}{
		{"the text before", "old_string", `{"old_string":"a","new_string":"b"}`, true},
		{"another field", "replace_all", `{"old_string":"a","new_string":"b","replace_all":true}`, false},
		{"edits", "edits", `{"edits":[{"old_string":"a","new_string":"b"},{"oldText":"c","newText":"d"}]}`, true},
		{"no edits", "edits", `{"edits":[]}`, false},
		{"an empty edit", "edits", `{"edits":[{"old_string":"a","new_string":"b"},{}]}`, false},
		{"an edit without the text after", "edits", `{"edits":[{"old_string":"a","new_string":"b"},{"old_string":"a"}]}`, false},
		{"an edit with two names", "edits",
			`{"edits":[{"old_string":"a","new_string":"b","oldText":"c","newText":"d"}]}`, false},
		{"an edit with another field", "edits", `{"edits":[{"old_string":"a","new_string":"b","all":true}]}`, false},
		{"no object", "edits", `["a"]`, false},
	} {
		if got := EditsCover(json.RawMessage(tt.input), tt.field); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestContextIsShort(t *testing.T) {
	before := []string{"1", "2", "3", "4", "5", "6", "7"}
	after := []string{"1", "2", "3", "x", "5", "6", "7"}
	if got := showChanges(compare(before, after)); got != " 2\n 3\n-4\n+x\n 5\n 6\n" {
		t.Errorf("%q", got)
	}
}

// What is kept or removed is a part of the text before, and what is kept or added of the text after.
func TestChangesLeadFromOneTextToTheOther(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 12)
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		var from, to []string
		for _, c := range compare(before, after) {
			if c.Kind != Added {
				from = append(from, c.Text)
			}
			if c.Kind != Removed {
				to = append(to, c.Text)
			}
		}
		if !strings.Contains(strings.Join(before, ""), strings.Join(from, "")) ||
			!strings.Contains(strings.Join(after, ""), strings.Join(to, "")) || len(before)-len(from) != len(after)-len(to) {
			t.Fatalf("from %q to %q: %q", before, after, showChanges(compare(before, after)))
		}
	})
}

func TestLargeTextsAreReplaced(t *testing.T) {
	before := strings.Split(strings.Repeat("a\nb\n", 1<<16), "\n")
	after := strings.Split(strings.Repeat("b\nc\n", 1<<16), "\n")
	if got := len(compare(before, after)); got < 1<<18-2 {
		t.Errorf("%d lines", got)
	}
}

func TestLongTextsAreNotCompared(t *testing.T) {
	lines := func(n int, name string) (lines []string) {
		for i := range n {
			lines = append(lines, fmt.Sprint(name, i))
		}
		lines[n/2] = "common"
		return lines
	}
	for _, tt := range []struct{ before, after, kept int }{{300, 300, 1}, {301, 300, 0}, {300, 301, 0}} {
		kept := strings.Count(showChanges(compare(lines(tt.before, "a"), lines(tt.after, "b"))), " common\n")
		if kept != tt.kept {
			t.Errorf("of %d and %d lines %d are kept, want %d", tt.before, tt.after, kept, tt.kept)
		}
	}
}

func TestRemovedLinesPrecedeAddedOnes(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"a b c", "x y z", "-a\n-b\n-c\n+x\n+y\n+z\n"},
		{"a k b", "x k y", "-a\n+x\n k\n-b\n+y\n"},
		{"a b", "b a", "-a\n b\n+a\n"},
		{"k a b", "x k", "+x\n k\n-a\n-b\n"},
		{"a p b q c", "x q y p z", "-a\n-p\n-b\n+x\n q\n-c\n+y\n+p\n+z\n"},
	} {
		if got := showChanges(compare(strings.Fields(tt.before), strings.Fields(tt.after))); got != tt.want {
			t.Errorf("%s to %s: %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}
