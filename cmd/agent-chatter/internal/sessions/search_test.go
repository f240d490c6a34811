package sessions

import (
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/search"
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
		at := strings.Index(test.line, test.match)
		line := excerpt(search.Hit{Line: test.line, Start: at, End: at + len(test.match)}, 40)
		got := ansi.NoColor.Encode(line)
		if !strings.Contains(got, test.match) || displaywidth.String(got) > 40 {
			t.Errorf("%q: got %q", test.line, got)
		}
		if colored := ansi.Color16.Encode(line); !strings.Contains(colored, "\x1b[1;33m"+test.match+"\x1b[m") {
			t.Errorf("%q: got %q", test.line, colored)
		}
	}
	for _, test := range []struct {
		line       string
		start, end int
		want       string
	}{
		{strings.Repeat("x", 60) + "needle", 60, 66, "…" + strings.Repeat("x", 33) + "needle"},
		{"a line that fits, with the needle", 27, 33, "a line that fits, with the needle"},
		{"short needle", 6, 12, "short needle"},
		{"\t\tif needle {", 5, 11, "if needle {"},
		{strings.Repeat("x", 20) + strings.Repeat("n", 36) + " y", 20, 56, "…xx" + strings.Repeat("n", 36) + "…"},
		{strings.Repeat("x", 20) + strings.Repeat("n", 80) + " y", 20, 100, "…" + strings.Repeat("n", 38) + "…"},
		{"a\x1b[2Jb needle\x1b]52;c;QQ==\a", 7, 13, "a␛[2Jb needle␛]52;c;QQ==␇"},
	} {
		hit := search.Hit{Line: test.line, Start: test.start, End: test.end}
		if got := ansi.NoColor.Encode(excerpt(hit, 40)); got != test.want {
			t.Errorf("%q: got %q, want %q", test.line, got, test.want)
		}
	}
}
