package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestCellsAreTheColumnsOfATerminal(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "hello": 5, "…": 1, "⠋": 1, "请帮我": 6, "한국어": 6, "ｆｕｌｌ": 8, "🎉!": 3, "e\u0301": 1, "שלום": 4, "a\u200db": 2, "━─": 2, "␛": 1,
	} {
		if got := cells(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
}

func TestATextIsShortenedToItsColumns(t *testing.T) {
	for _, test := range []struct {
		text    string
		columns int
		want    string
	}{
		{"hello", 5, "hello"}, {"hello!", 5, "hell…"}, {"请帮我", 6, "请帮我"}, {"请帮我", 5, "请帮…"}, {"请帮我", 4, "请…"}, {"请", 1, "…"}, {"", 0, ""},
	} {
		if got := shortened(test.text, test.columns); got != test.want {
			t.Errorf("shortened(%q, %d) is %q, want %q", test.text, test.columns, got, test.want)
		}
	}
}

func TestAroundShowsTheMatchInWhatFits(t *testing.T) {
	long := strings.Repeat("x ", 100) + "needle" + strings.Repeat(" y", 100)
	for _, test := range []struct{ line, match string }{
		{"needle", "needle"}, {long, "needle"}, {strings.Repeat("请", 100) + "needle" + strings.Repeat("帮", 100), "needle"}, {"needle" + long, "needle"},
		{strings.Repeat("x", 100) + "needle", "needle"},
	} {
		got := around(test.line, strings.Index(test.line, test.match), 40)
		if !strings.Contains(got, test.match) || cells(got) > 40 {
			t.Errorf("of %q it shows %q", test.line, got)
		}
	}
	if got := around("short needle", 6, 40); got != "short needle" {
		t.Errorf("it shows %q", got)
	}
}

func TestATableLinesUpWhatAnyScriptSays(t *testing.T) {
	list := func(columns int) string {
		table := &table{columns: columns}
		table.add("7QN3", "团队", "Ada", "a title of some length")
		table.add("8ABCD", "demo", "设计师", "短")
		table.add("9", "x", "y", "")
		var shown bytes.Buffer
		if err := table.write(&shown); err != nil {
			t.Fatal(err)
		}
		return shown.String()
	}
	if got, want := list(0), "7QN3   团队  Ada     a title of some length\n8ABCD  demo  设计师  短\n9      x     y\n"; got != want {
		t.Errorf("it shows\n%s\nwant\n%s", got, want)
	}
	for line := range strings.Lines(list(40)) {
		if n := cells(strings.TrimSuffix(line, "\n")); n >= 40 {
			t.Errorf("%q takes %d columns", line, n)
		}
	}
}

func TestHelpFitsEightyColumns(t *testing.T) {
	var shown bytes.Buffer
	if err := (&talk{app: &app{stderr: &shown}}).slashHelp(""); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(shown.String()) {
		if cells(line) > 80 {
			t.Errorf("too long: %s", line)
		}
	}
}
