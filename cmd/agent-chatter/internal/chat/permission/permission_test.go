package permission

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func TestPermissionTexts(t *testing.T) {
	var texts []apptest.Text
	add := func(sample string, p agent.Permission) {
		texts = append(texts, apptest.Text{Function: "Text", Sample: sample, Shown: Text("Ada", p)})
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
	texts = append(texts, apptest.Text{Function: "omittedText", Shown: omittedText(300_000)})
	for _, a := range []coordinator.Answer{
		coordinator.Allowed, coordinator.AllowedForSession, coordinator.AllowedAlways, coordinator.Refused,
	} {
		texts = append(texts, apptest.Text{Function: "AnsweredText", Shown: AnsweredText(a)})
	}
	texts = append(texts,
		apptest.Text{Function: "PlainChoicesText", Sample: "always", Shown: PlainChoicesText(agent.Permission{Always: true}, 0)},
		apptest.Text{Function: "PlainChoicesText", Sample: "the width of two answers",
			Shown: PlainChoicesText(agent.Permission{Always: true}, 38)},
		apptest.Text{Function: "PlainChoicesText", Sample: "the width of an answer",
			Shown: PlainChoicesText(agent.Permission{Always: true}, 37)},
		apptest.Text{Function: "PlainChoicesText", Sample: "not all is shown",
			Shown: PlainChoicesText(agent.Permission{Omitted: 1}, 80)})
	texts = append(texts, apptest.Text{Function: "RefusalText", Shown: RefusalText("ada", "too risky")})
	texts = append(texts, apptest.Text{Function: "fieldText", Shown: fieldText([]byte(`"a\nb"`))})
	apptest.CheckTexts(t, texts)
}

func TestPermissionRows(t *testing.T) {
	for text, want := range map[string]int{"": 1, "abcde": 1, "abcdef": 2, "a\n\nabcdefghijk": 5} {
		if got := Rows(text, 5); got != want {
			t.Errorf("%q takes %d rows, want %d", text, got, want)
		}
	}
	if got := Rows("a\n\nbc", 1); got != 4 {
		t.Errorf("on one column it takes %d rows", got)
	}
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
		if got := Text("Ada", p); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", input, got, want)
		}
	}
}

func TestPermissionTitleIsWrapped(t *testing.T) {
	p := agent.Permission{Title: "Edit main.go"} // a title of 41 columns
	for width, want := range map[int]int{42: 2, 41: 3} {
		if got := Lines("Ada", p, view.Style{Width: width}); len(got) != want {
			t.Errorf("on %d columns: %q", width, got)
		}
	}
}

func TestPermissionPlainChoicesInRows(t *testing.T) {
	for columns, want := range map[int]int{0: 0, 1: 4, 28: 4, 29: 3, 55: 2, 56: 1} {
		if got := PlainChoicesText(agent.Permission{Always: true}, columns); strings.Count(got, "\n") != want {
			t.Errorf("on %d columns:\n%s", columns, got)
		}
	}
}

func TestPermissionAnswers(t *testing.T) {
	for _, tt := range []struct {
		typed  string
		answer coordinator.Answer
		reason string
	}{
		{"y", coordinator.Allowed, ""},
		{"s", coordinator.AllowedForSession, ""},
		{"a", coordinator.AllowedAlways, ""},
		{"n", coordinator.Refused, ""},
		{"rtoo risky ", coordinator.Refused, "too risky"},
		{"", coordinator.Refused, ""},
	} {
		if answer, reason := AnswerOf(tt.typed); answer != tt.answer || reason != tt.reason {
			t.Errorf("%q is %v, %q", tt.typed, answer, reason)
		}
	}
}

func TestPermissionPlainAnswers(t *testing.T) {
	always := agent.Permission{Always: true}
	for _, tt := range []struct {
		line   string
		p      agent.Permission
		answer coordinator.Answer
		reason string
		ok     bool
	}{
		{" Y ", always, coordinator.Allowed, "", true},
		{"yes", always, coordinator.Allowed, "", true},
		{"s", always, coordinator.AllowedForSession, "", true},
		{"s", agent.Permission{Omitted: 1}, coordinator.Refused, "", false},
		{"a", always, coordinator.AllowedAlways, "", true},
		{"A", always, coordinator.AllowedAlways, "", true},
		{"a", agent.Permission{}, coordinator.Refused, "", false},
		{"n", always, coordinator.Refused, "", true},
		{"no too risky ", always, coordinator.Refused, "too risky", true},
		{"r too risky", always, coordinator.Refused, "", false},
		{"", always, coordinator.Refused, "", false},
		{"\x1b", always, coordinator.Refused, "", false},
		{"all of it", always, coordinator.Refused, "", false},
		{"a plan", always, coordinator.Refused, "", false},
		{"yes please", always, coordinator.Refused, "", false},
	} {
		answer, reason, ok := PlainAnswer(tt.p, tt.line)
		if answer != tt.answer || reason != tt.reason || ok != tt.ok {
			t.Errorf("%q is %v, %q, %v", tt.line, answer, reason, ok)
		}
	}
}

func TestPermissionAlwaysIsOfferedByTheAgent(t *testing.T) {
	keys := func(p agent.Permission) (keys string) {
		for _, c := range Question(p, true).Choices {
			keys += string(c.Key)
		}
		return keys
	}
	if got := keys(agent.Permission{}); got != "ysnr\x1b" {
		t.Errorf("the keys are %q", got)
	}
	if got := keys(agent.Permission{Always: true}); got != "ysanr\x1b" {
		t.Errorf("with always, the keys are %q", got)
	}
	if got := keys(agent.Permission{Omitted: 1}); got != "ynr\x1b" {
		t.Errorf("with something that is not shown, the keys are %q", got)
	}
	if q := Question(agent.Permission{}, false); len(q.Choices) != 4 || q.Again != TextPlainAgain {
		t.Errorf("where Escape cancels nothing, the answers are %+v", q)
	}
}

func TestPermissionShowsEightThousandBytes(t *testing.T) {
	for n, whole := range map[int]bool{shownInput: true, shownInput + 1: false} {
		p := agent.Permission{Tool: "edit", Input: []byte(`{"a":"` + strings.Repeat("x", n) + `"}`)}
		if got := Text("Ada", p); strings.Contains(got, "not shown") == whole || strings.Count(got, "x") != shownInput {
			t.Errorf("of %d bytes %d are shown", n, strings.Count(got, "x"))
		}
	}
}

func TestPermissionLinesHaveColors(t *testing.T) {
	p := agent.Permission{Title: "Edit main.go", Edits: []agent.FileEdit{{Path: "main.go", Old: "a\nb", New: "a\nc"}}}
	want := []string{
		"", "\x1b[1;33mAda requests permission\x1b[m", "\x1b[1;33mfor: Edit main.go\x1b[m",
		"  main.go", "    a", "\x1b[31m  - b\x1b[m", "\x1b[32m  + c\x1b[m",
	}
	got := Lines("Ada", p, view.Style{Width: 25, Profile: ansi.Color16})
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
