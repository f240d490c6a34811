package chat

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// permissionTexts renders the answers to a request with sample values.
func permissionTexts() (texts []apptest.Text) {
	for _, a := range []coordinator.Decision{
		coordinator.Allowed, coordinator.AllowedForSession, coordinator.AllowedAlways, coordinator.Refused,
	} {
		texts = append(texts, apptest.Text{Function: "AnsweredText", Shown: answeredText(a)})
	}
	texts = append(texts,
		apptest.Text{Function: "PlainChoicesText", Sample: "always", Shown: plainChoicesText(agent.Permission{Always: ".rules"}, 0)},
		apptest.Text{Function: "PlainChoicesText", Sample: "the width of two answers",
			Shown: plainChoicesText(agent.Permission{Always: ".rules"}, 38)},
		apptest.Text{Function: "PlainChoicesText", Sample: "the width of an answer",
			Shown: plainChoicesText(agent.Permission{Always: ".rules"}, 37)},
		apptest.Text{Function: "PlainChoicesText", Sample: "not all is shown",
			Shown: plainChoicesText(agent.Permission{Omitted: 1}, 80)})
	wood := agent.Question{Text: "Which wood?", Options: []agent.Option{{Label: "oak"}, {Label: "pine"}}}
	add := func(sample string, change func(q *agent.Question)) {
		q := wood
		change(&q)
		texts = append(texts, apptest.Text{Function: "plainQuestionText", Sample: sample, Shown: plainQuestionText(q)})
	}
	add("options", func(*agent.Question) {})
	add("several, or a text", func(q *agent.Question) { q.Several, q.Free = true, true })
	add("an optional number", func(q *agent.Question) { q.Options, q.Free, q.Number, q.Optional = nil, true, true, true })
	for _, chosen := range []struct {
		sample   string
		question agent.Question
		answer   []string
	}{
		{"none", wood, nil}, {"hostile", wood, []string{"oak", apptest.Hostile}},
		{"secret", agent.Question{Secret: true}, []string{"secret"}},
	} {
		texts = append(texts, apptest.Text{
			Function: "chosenText", Sample: chosen.sample, Shown: chosenText(chosen.question, chosen.answer),
		})
	}
	return texts
}

func TestPermissionRows(t *testing.T) {
	for text, want := range map[string]int{"": 1, "abcde": 1, "abcdef": 2, "a\n\nabcdefghijk": 5} {
		if got := permissionRows(text, 5); got != want {
			t.Errorf("%q takes %d rows, want %d", text, got, want)
		}
	}
	if got := permissionRows("a\n\nbc", 1); got != 4 {
		t.Errorf("on one column it takes %d rows", got)
	}
}

func TestPermissionTitleIsWrapped(t *testing.T) {
	p := agent.Permission{Title: "Edit main.go"} // a title of 41 columns
	for width, want := range map[int]int{42: 2, 41: 3} {
		if got := permissionLines("Ada", p, view.Style{Width: width}); len(got) != want {
			t.Errorf("on %d columns: %q", width, got)
		}
	}
}

func TestPermissionPlainChoicesInRows(t *testing.T) {
	for columns, want := range map[int]int{0: 0, 1: 4, 44: 2, 80: 1, 120: 0} {
		if got := plainChoicesText(agent.Permission{Always: ".rules"}, columns); strings.Count(got, "\n") != want {
			t.Errorf("on %d columns:\n%s", columns, got)
		}
	}
}

func TestPermissionAnswers(t *testing.T) {
	for _, tt := range []struct {
		typed  string
		answer coordinator.Decision
		reason string
	}{
		{"y", coordinator.Allowed, ""},
		{"s", coordinator.AllowedForSession, ""},
		{"a", coordinator.AllowedAlways, ""},
		{"n", coordinator.Refused, ""},
		{"rtoo risky ", coordinator.Refused, "too risky"},
		{"", coordinator.Refused, ""},
	} {
		if a := answerOf(tt.typed); a.Decision != tt.answer || a.Reason != tt.reason {
			t.Errorf("%q is %+v", tt.typed, a)
		}
	}
}

func TestPermissionPlainAnswers(t *testing.T) {
	always := agent.Permission{Always: ".rules"}
	for _, tt := range []struct {
		line   string
		p      agent.Permission
		answer coordinator.Decision
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
		a, ok := plainAnswer(tt.p, tt.line)
		if a.Decision != tt.answer || a.Reason != tt.reason || ok != tt.ok {
			t.Errorf("%q is %+v, %v", tt.line, a, ok)
		}
	}
}

func TestPermissionAlwaysIsOfferedByTheAgent(t *testing.T) {
	keys := func(p agent.Permission) (keys string) {
		for _, c := range permissionQuestion(p, true).Choices {
			keys += string(c.Key)
		}
		return keys
	}
	if got := keys(agent.Permission{}); got != "ysnr\x1b" {
		t.Errorf("the keys are %q", got)
	}
	if got := keys(agent.Permission{Always: ".rules"}); got != "ysanr\x1b" {
		t.Errorf("with always, the keys are %q", got)
	}
	if got := keys(agent.Permission{Omitted: 1}); got != "ynr\x1b" {
		t.Errorf("with something that is not shown, the keys are %q", got)
	}
	if q := permissionQuestion(agent.Permission{}, false); len(q.Choices) != 4 {
		t.Errorf("where Escape cancels nothing, the answers are %+v", q)
	}
}

func TestPermissionLinesHaveColors(t *testing.T) {
	p := agent.Permission{Title: "Edit main.go", Edits: []agent.FileEdit{{Path: "main.go", Old: "a\nb", New: "a\nc"}}}
	want := []string{
		"", "\x1b[1;33mAda requests permission\x1b[m", "\x1b[1;33mfor: Edit main.go\x1b[m",
		"  main.go", "\x1b[2m    a\x1b[m", "\x1b[31m  - b\x1b[m", "\x1b[32m  + c\x1b[m",
	}
	got := permissionLines("Ada", p, view.Style{Width: 25, Profile: ansi.Color16})
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
}
