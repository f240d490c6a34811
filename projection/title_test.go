package projection_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection"
)

func TestSummaryQuotesTheStartOfTheFirstMessage(t *testing.T) {
	for _, test := range []struct{ name, first, want string }{
		{"49 characters", strings.Repeat("x", 49), strings.Repeat("x", 49)},
		{"50 characters", strings.Repeat("x", 50), strings.Repeat("x", 50)},
		{"51 characters", strings.Repeat("x", 51), strings.Repeat("x", 50) + "..."},
		{"50 Chinese characters", strings.Repeat("壶", 50), strings.Repeat("壶", 50)},
		{"51 Chinese characters", strings.Repeat("壶", 51), strings.Repeat("壶", 50) + "..."},
		{"50 emoji", strings.Repeat("🫖", 50), strings.Repeat("🫖", 50)},
		{"51 emoji", strings.Repeat("🫖", 51), strings.Repeat("🫖", 50) + "..."},
		{"line breaks", "one\ntwo\r\nthree\rfour", "one two three four"},
		{"a line break as the 50th character", strings.Repeat("x", 49) + "\n", strings.Repeat("x", 49) + " "},
		{
			"a line break of two bytes as the 50th character", strings.Repeat("x", 49) + "\r\n",
			strings.Repeat("x", 49) + " ",
		},
		{"markers stay", "[FROM: mia] hello", "[FROM: mia] hello"},
		{"quotation marks stay", `say "yes"`, `say "yes"`},
		{"nothing", "", ""},
		{"a very long message", strings.Repeat("壶", 1<<18), strings.Repeat("壶", 50) + "..."},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fold(session(t, said(ada, "m1", test.first), said(mia, "m2", "another"))...)
			if got, want := s.Row.Summary(), `2 messages - "`+test.want+`"`; got != want {
				t.Errorf("%s, not %s", got, want)
			}
		})
	}
}

func TestSummaryOfAnEmptySession(t *testing.T) {
	for name, s := range map[string]*projection.State{
		"without events":   fold(),
		"just created":     fold(session(t)...),
		"with a task only": fold(session(t, record(projection.TaskSet{Task: new("a task")}))...),
	} {
		if got := s.Row.Summary(); got != "Empty conversation" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := (projection.Row{Preview: "not a message"}).Summary(); got != "Empty conversation" {
		t.Error(got)
	}
}

func TestTitleIsTheFirstHumanMessage(t *testing.T) {
	for _, test := range []struct{ name, first, want string }{
		{"plain", "Repair the kettle", "Repair the kettle"},
		{
			"markers of every kind, in any case", "[NEXT: ada!P1, bo][drop: ALL] Repair [From:mia]it[team_task: x]",
			"Repair it",
		},
		{"markers in code stay", "What is `[NEXT: x]` [NEXT: ada] for?", "What is `[NEXT: x]` for?"},
		{"other brackets stay", "[TODO: x] [next] [NEXT:]", "[TODO: x] [next]"},
		{"line breaks are spaces", "Repair\nthe\r\nkettle\rnow", "Repair the kettle now"},
		{"no spaces around it", " \n Repair \t", "Repair"},
		{"50 characters", strings.Repeat("x", 50), strings.Repeat("x", 50)},
		{"51 characters", strings.Repeat("x", 51), strings.Repeat("x", 50) + "…"},
		{"50 Chinese characters", strings.Repeat("壶", 50), strings.Repeat("壶", 50)},
		{"51 emoji", strings.Repeat("🫖", 51), strings.Repeat("🫖", 50) + "…"},
		{"50 characters after a marker", "[NEXT: ada] " + strings.Repeat("x", 50), strings.Repeat("x", 50)},
		{"50 characters and trailing line breaks", strings.Repeat("x", 50) + "\n\n", strings.Repeat("x", 50)},
		{"a very long message", strings.Repeat("壶", 1<<18), strings.Repeat("壶", 50) + "…"},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := fold(
				session(
					t,
					said(ada, "m1", "What is broken?"),
					said(mia, "m2", test.first),
					said(mia, "m3", "later"),
				)...)
			if s.Row.Title != test.want {
				t.Errorf("%q, not %q", s.Row.Title, test.want)
			}
			if !utf8.ValidString(s.Row.Title) {
				t.Error("it is not UTF-8")
			}
		})
	}
}

func TestTitleNeedsAHumanMessageWithText(t *testing.T) {
	s := fold(session(t, said(ada, "m1", "Hello"))...)
	if s.Row.Title != "" {
		t.Errorf("an agent's message became the title %q", s.Row.Title)
	}
	apply(s, session(t, said(mia, "m2", "[NEXT: ada]"), said(mia, "m3", "Repair it"))[1:]...)
	if s.Row.Title != "Repair it" {
		t.Errorf("the title is %q", s.Row.Title)
	}
}

func TestTitleOfARenamedSessionStays(t *testing.T) {
	for _, title := range []string{"The kettle", ""} {
		rename := record(projection.SessionRenamed{Title: title})
		for name, s := range map[string]*projection.State{
			"before the first message": fold(session(t, rename, said(mia, "m1", "Repair it"))...),
			"after it": fold(
				session(t, said(mia, "m1", "Repair it"), rename, said(mia, "m2", "Now"))...,
			),
		} {
			if s.Row.Title != title || !s.Row.Renamed {
				t.Errorf("renamed to %q %s, it is %q", title, name, s.Row.Title)
			}
		}
	}
}
