package sessions

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

func TestExcerptFitsAndShowsTheMatch(t *testing.T) {
	long := strings.Repeat("x ", 100) + "needle" + strings.Repeat(" y", 100)
	for _, test := range []struct{ line, match string }{
		{"needle", "needle"},
		{long, "needle"},
		{strings.Repeat("请", 100) + "needle" + strings.Repeat("帮", 100), "needle"},
		{"needle" + long, "needle"},
		{strings.Repeat("x", 100) + "needle", "needle"},
		{strings.Repeat("\u2764\ufe0f", 100) + "needle", "needle"},
		{strings.Repeat("\u260e\ufe0f ", 100) + "needle", "needle"},
		{strings.Repeat("1\ufe0f\u20e3", 100) + "needle", "needle"},
	} {
		got := excerpt(test.line, strings.Index(test.line, test.match), 40)
		if !strings.Contains(got, test.match) || displaywidth.String(got) > 40 {
			t.Errorf("%q: got %q", test.line, got)
		}
	}
	if got := excerpt(strings.Repeat("x", 60)+"needle", 60, 40); got != "…"+strings.Repeat("x", 33)+"needle" {
		t.Errorf("got %q", got)
	}
	if got := excerpt("a line that fits, with the needle", 27, 40); got != "a line that fits, with the needle" {
		t.Errorf("got %q", got)
	}
	if got := excerpt("short needle", 6, 40); got != "short needle" {
		t.Errorf("got %q", got)
	}
}
