package view

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

func TestLinesHaveTheirNumbers(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"a hunk", `[{"path":"a","diff":"@@ -9,3 +12,4 @@ f\n a\n-b\n+c\n+d\n e\n"}]`, "12 a|-10 b|+13 c|+14 d|15 e"},
		{"two hunks", `[{"path":"a","diff":"@@ -1 +1 @@\n-a\n+b\n@@ -8,0 +9 @@\n+c\n"}]`, "-1 a|+1 b|+9 c"},
		{"a file that is added", `[{"path":"a","kind":{"type":"add"},"diff":"a\nb\n"}]`, "+1 a|+2 b"},
		{"a file that is deleted", `[{"path":"a","kind":{"type":"delete"},"diff":"a\n"}]`, "-1 a"},
		{"a file that is written", `{"path":"a","content":"a\nb"}`, "+1 a|+2 b"},
		{"a file that a patch adds", `{"input":"*** Begin Patch\n*** Add File: a\n+a\n*** End Patch"}`, "+1 a"},
		{"text that is perhaps inserted", `{"path":"a","content":"a","line":7}`, "+0 a"},
		{"a replacement", `{"path":"a","old_string":"a","new_string":"b"}`, "-0 a|+0 b"},
		{"a hunk without numbers", `{"input":"*** Begin Patch\n*** Update File: a\n@@ f\n-a\n+b\n*** End Patch"}`, "-0 a|+0 b"},
		{"wrong counts", `{"patch":"--- a/a\n+++ b/a\n@@ -9,2 +9,2 @@\n-a\n+b\n"}`, "-0 a|+0 b"},
		{"a hunk after one that counts wrong", `[{"path":"a","diff":"@@ -9 +9,7 @@\n-a\n@@ -20 +20 @@\n-b\n+c\n"}]`, "-0 a|-20 b|+20 c"},
		{"a huge number", `[{"path":"a","diff":"@@ -1 +99999999999999999999 @@\n-a\n+b\n"}]`, "-0 a|+0 b"},
	} {
		var got []string
		for _, h := range HunksIn(json.RawMessage(tt.input)) {
			for i, number := range h.numbers() {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%c%d %s", h.Changes[i].Kind, number, h.Changes[i].Text)))
			}
		}
		if shown := strings.Join(got, "|"); shown != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, shown, tt.want)
		}
	}
}

// diffScenes are calls that change files.
var diffScenes = []struct{ name, tool, input string }{
	{"a hunk", "file_change", `[{"path":"/src/calc/eval.go","kind":{"type":"update"},"diff":"@@ -98,5 +98,8 @@ func eval\n // eval evaluates an expression.\n` +
		`-func eval(e expr) float64 {\n-\treturn e.left / e.right\n+func eval(e expr) (float64, error) {\n+\tif e.right == 0 {\n+\t\treturn 0, errors.New(\"division by zero\")\n` +
		`+\t}\n+\treturn e.left / e.right, nil\n }\n \n"}]`},
	{"several files", "file_change", `[{"path":"a.py","kind":{"type":"update"},"diff":"@@ -7 +7 @@\n-limit = 10 # rows\n+limit = 20 # rows\n@@ -31 +31 @@\n-show(limit)\n+show(limit, 'all')\n"},` +
		`{"path":"b.sql","kind":{"type":"add"},"diff":"-- the rows\nselect * from rows;\n"},{"path":"Makefile","kind":{"type":"delete"},"diff":"all:\n\tgo build\n"}]`},
	{"a replacement", "Edit", `{"file_path":"a.go","old_string":"x := old /* a\nb */ + 1","new_string":"x := newer /* a\nb */ + 1"}`},
	{"several replacements", "MultiEdit", `{"file_path":"a.unknown","edits":[{"old_string":"one","new_string":"two"},{"old_string":"three","new_string":"four"}]}`},
	{"a long line", "Write", `{"file_path":"a.ts","content":"const message: string = 'a text that is longer than the narrowest of the terminals, and than others';\n"}`},
}

// TestDiffScreens compares how edits are shown with the golden file.
func TestDiffScreens(t *testing.T) {
	var b strings.Builder
	for _, width := range []int{40, 80, 120} {
		for _, profile := range []struct {
			name string
			ansi.Profile
		}{{"no colours", ansi.NoColor}, {"16 colours", ansi.Color16}, {"monochrome", ansi.Monochrome}} {
			for _, scene := range diffScenes {
				fmt.Fprintf(&b, "==== %d columns, %s, %s\n", width, profile.name, scene.name)
				call := Call{conversation.Call{
					Started: projection.ToolStarted{Name: scene.tool, Input: json.RawMessage(scene.input)},
					Result:  &projection.ToolCompleted{},
				}}
				for _, whole := range []bool{false, true} {
					for _, line := range Render(BlockOf(call), Style{Width: width, Profile: profile.Profile, Whole: whole}) {
						b.WriteString(strings.ReplaceAll(line, "\x1b", `\e`) + "\n")
					}
				}
			}
		}
	}
	apptest.Golden(t, filepath.Join("testdata", "screens", "diff.golden"), b.String())
}

// What the numbers, the colours and the marks leave of a line is the line.
func TestLinesOfDiffsAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := Hunk{Path: rapid.SampledFrom([]string{"a.go", "a", "a.sh", "a.diff", "a.html"}).Draw(t, "path")}
		h.Old, h.New = rapid.IntRange(0, 1).Draw(t, "old")*9, rapid.IntRange(0, 1).Draw(t, "new")*99
		for range rapid.IntRange(0, 6).Draw(t, "lines") {
			kind := rapid.SampledFrom([]ChangeKind{Kept, Added, Removed}).Draw(t, "kind")
			text := rapid.StringOfN(rapid.RuneFrom([]rune("ab ü界\"'/*$<x=1")), 0, 10, -1).Draw(t, "text")
			h.Changes = append(h.Changes, Change{kind, text})
		}
		for i, line := range diffLines([]Hunk{h}, len(h.Changes), Style{Profile: ansi.Color16}) {
			text := ""
			for _, span := range line {
				text += span.Text
			}
			if want := string(h.Changes[i].Kind) + " " + h.Changes[i].Text; !strings.HasSuffix(text, want) {
				t.Fatalf("got %q, want the end %q", text, want)
			}
		}
	})
}
