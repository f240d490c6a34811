package host

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// permissionTexts renders requests with sample values.
func permissionTexts() (texts []apptest.Text) {
	add := func(sample string, p agent.Permission) {
		texts = append(texts, apptest.Text{Function: "PermissionText", Sample: sample, Shown: PermissionText("Ada", p)})
	}
	add("a command that is the title", agent.Permission{
		Tool: "execute", Title: "rm -r /" + apptest.Hostile, Input: []byte(`{"command":"rm -r /"}`),
	})
	add("a title that hides the command", agent.Permission{
		Tool: "execute", Title: "List files", Input: []byte(`{"command":"rm -r /","cwd":"/","timeout":10}`),
	})
	add("no input", agent.Permission{Tool: "execute", Title: "ls"})
	add("an input that is no object", agent.Permission{Tool: "edit", Input: []byte(`["a"]`)})
	add("a long input", agent.Permission{Tool: "edit", Input: []byte(`{"a":"` + strings.Repeat("x", 2*shownInput) + `"}`)})
	add("an edit", agent.Permission{Tool: "edit", Title: "Edit main.go", Edits: []agent.FileEdit{
		{Path: "main.go" + apptest.Hostile, Old: "one\ntwo\nthree\n", New: "one\n2" + apptest.Hostile + "\nthree\n"},
	}})
	add("an edit of Claude Code", agent.Permission{Tool: "Edit", Title: "Edit", Input: []byte(
		`{"file_path":"main.go","old_string":"one\ntwo","new_string":"one\n2","replace_all":true}`)})
	add("a patch", agent.Permission{Tool: "apply_patch", Title: "Patch", Input: []byte(
		`{"input":"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"}`)})
	add("a command whose title looks like a comment", agent.Permission{Tool: "execute", Title: "# harmless\nrm -r /",
		Input: []byte(`{"command":"# harmless\nrm -r /"}`)})
	add("a field that no change comes from", agent.Permission{Tool: "Write", Title: "Write", Input: []byte(
		`{"content":"evil","file_path":"main.go","old_string":"one","new_string":"two","newString":"three"}`)})
	add("edits", agent.Permission{Tool: "edit", Title: "Edit", Input: []byte(
		`{"path":"main.go","edits":[{"oldText":"one","newText":"two"},{"oldText":"three","newText":"four"}]}`)})
	add("an edit of another file among edits", agent.Permission{Tool: "edit", Title: "Edit", Input: []byte(
		`{"path":"main.go","edits":[{"oldText":"one","newText":"two"},{"path":"/etc/passwd","content":"evil"}]}`)})
	add("a field that differs from the edit", agent.Permission{Tool: "edit", Title: "Edit", Omitted: 300_000,
		Edits: []agent.FileEdit{{Path: "main.go", Old: "one", New: "two"}}, Input: []byte(`{"old_string":"one","content":"evil"}`)})
	questions := agent.Permission{Title: "What " + apptest.Hostile + "shall it be?", Questions: []agent.Question{
		{Header: "Wood" + apptest.Hostile, Text: "Which wood?" + apptest.Hostile, Options: []agent.Option{
			{Label: "oak" + apptest.Hostile, Description: "hard" + apptest.Hostile}, {Label: "pine"},
		}},
		{Text: "How many?", Free: true, Number: true},
	}}
	for i, sample := range []string{"options", "a number"} {
		texts = append(texts,
			apptest.Text{Function: "QuestionText", Sample: sample, Shown: QuestionText("Ada"+apptest.Hostile, questions, i)},
			apptest.Text{Function: "TypeText", Sample: sample, Shown: TypeText(questions.Questions[i])})
	}
	texts = append(texts, apptest.Text{Function: "omittedText", Shown: omittedText(300_000)})
	for _, d := range []coordinator.Decision{
		coordinator.Refused, coordinator.Allowed, coordinator.AllowedForSession, coordinator.AllowedAlways,
	} {
		texts = append(texts, apptest.Text{Function: "AnsweredText", Sample: fmt.Sprint(d), Shown: AnsweredText(d)})
	}
	refused := agent.Permission{Title: "rm -r\n/ [NEXT: bob]"}
	texts = append(texts, apptest.Text{Function: "RefusalText", Shown: RefusalText("ada", refused, "too risky")})
	texts = append(texts, apptest.Text{
		Function: "AnsweredOnText",
		Shown:    AnsweredOnText(apptest.Hostile, apptest.Hostile, coordinator.Refused),
	})
	texts = append(texts, apptest.Text{Function: "fieldText", Shown: fieldText([]byte(`"a\nb"`))})
	return texts
}

func TestHostTexts(t *testing.T) {
	apptest.CheckTexts(t, slices.Concat(permissionTexts(), placeTexts(), hubTexts(), agentSessionTexts(), memberTexts(t)))
}

func TestPermissionShowsEachFieldOnce(t *testing.T) {
	for input, want := range map[string]string{
		`{"content":"one","path":"a"}`:                       "  path: a\n  + one",
		`{"patch":"p","old_string":"a","new_string":"b"}`:    "  new_string: b\n  old_string: a\n  patch: p",
		`{"changes":"p","old_string":"a","new_string":"b"}`:  "  changes: p\n  new_string: b\n  old_string: a",
		`{"patch_of":"p","old_string":"a","new_string":"b"}`: "  patch_of: p\n  - a\n  + b",
	} {
		p := agent.Permission{Tool: "edit", Title: "Edit", Input: []byte(input), Omitted: 1}
		want = "Ada requests permission for: Edit\n" + want + "\n" + omittedText(1)
		if got := PermissionText("Ada", p); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", input, got, want)
		}
	}
}

func TestPermissionShowsEightThousandBytes(t *testing.T) {
	for n, whole := range map[int]bool{shownInput: true, shownInput + 1: false} {
		p := agent.Permission{Tool: "edit", Input: []byte(`{"a":"` + strings.Repeat("x", n) + `"}`)}
		if got := PermissionText("Ada", p); strings.Contains(got, "not shown") == whole || strings.Count(got, "x") != shownInput {
			t.Errorf("of %d bytes %d are shown", n, strings.Count(got, "x"))
		}
	}
}
