package markdown_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"pgregory.net/rapid"
)

func TestOneLineHasNoMarkdown(t *testing.T) {
	for source, want := range map[string]string{
		"":                          "",
		"  a\n\tb\r\nc  ":           "a b c",
		"# Head *line*\n\nText":     "Head line Text",
		"**a**b ~~c~~ `d  e`":       "ab c d e",
		"- a\n- [b](http://c)\n":    "a b",
		"1. a\n   > b\n2. c":        "a b c",
		"```go\nfunc main() {}\n":   "func main() {}",
		"    indented\n\nx":         "indented x",
		"|a|b|\n|-|-|\n|c|*d*|\n":   "a b c d",
		"***\n\na\\\nb  \nc":        "a b c",
		"![an image](x.png) <b>":    "an image <b>",
		"[](http://c) <http://d.e>": "http://c http://d.e",
		"snake_case 2*3*4 \\*a":     "snake_case 234 *a",
		"你好\n*世界*":                  "你好 世界",
		"a\xffb":                    "a\xffb",
	} {
		if got := markdown.OneLine(source, 100); got != want {
			t.Errorf("%q: %q, want %q", source, got, want)
		}
	}
}

func TestOneLineIsCutToItsLimit(t *testing.T) {
	for limit, want := range map[int]string{0: "", 1: "你", 2: "你", 3: "你 a", 5: "你 ab", 6: "你 ab c", 7: "你 ab cd", 9: "你 ab cd"} {
		if got := markdown.OneLine("你 *ab*\n\ncd", limit); got != want {
			t.Errorf("%d: %q, want %q", limit, got, want)
		}
	}
	propertytest.Check(t, func(t *rapid.T) {
		source := rapid.String().Draw(t, "source")
		limit := rapid.IntRange(0, 20).Draw(t, "limit")
		short, all := markdown.OneLine(source, limit), markdown.OneLine(source, 1<<20)
		if utf8.RuneCountInString(short) > limit || !strings.HasPrefix(all, short) || strings.ContainsAny(all, "\r\n\t") {
			t.Fatalf("%q is the start of %q", short, all)
		}
	})
}
