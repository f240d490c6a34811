package tty

import (
	"flag"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"pgregory.net/rapid"
)

func TestSafeEscapesControlCharactersOnly(t *testing.T) {
	pieces := []string{
		"tea",
		"\n",
		"\t",
		"\r\n",
		"\r",
		"\x1b[31m",
		"\x7f",
		"\u0085",
		"\u202e",
		"\u2066",
		"\u2028",
		"壶",
		"🫖",
		"\xff",
		"\xe5",
		"\ufffd",
		"\x00",
	}
	propertytest.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		got := Safe(text)
		if want := strings.Map(safeRune, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"),
			"\ufffd")); got != want {
			t.Fatalf("%q becomes %q, not %q", text, got, want)
		}
		if !isSafe(got) || Safe(got) != got {
			t.Fatalf("%q is not safe", got)
		}
	})
}

// rapid must not write failing inputs to testdata, which every later run would repeat.
func init() { flag.Set("rapid.nofailfile", "true") }

func TestFoldBreaksBetweenWords(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"words", "Ada says that the quick brown fox jumps", "Ada says that the\nquick brown fox\njumps"},
		{"a word that ends with the line", "one two three fours five", "one two three fours\nfive"},
		{"lines", "one\ntwo three four five six\n", "one\ntwo three four five\nsix\n"},
		{"an indented line", "  one two three four five", "  one two three\nfour five"},
		{"a word longer than a line", "see https://example.org/a/long/path and more", "see\nhttps://example.org/a/long/path\nand more"},
		{"a long word first", "https://example.org/a/long/path and more", "https://example.org/a/long/path\nand more"},
		{"a letter before a long word", "a https://example.org/a/long/path", "a\nhttps://example.org/a/long/path"},
		{"a letter after a full line", "one two three fours x", "one two three fours\nx"},
		{"two full lines", "one two three fours aaaaaaaaa bbbbbbbbb", "one two three fours\naaaaaaaaa bbbbbbbbb"},
		{"spaces at the end of a line", "one two three fours  x", "one two three fours \nx"},
		{"a space at the end", "one \ntwo ", "one \ntwo "},
		{"wide characters", "一二三 四五六 七八九", "一二三 四五六\n七八九"},
	} {
		if got := Fold(tt.text, 20); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := Fold(tt.text, 0); got != tt.text {
			t.Errorf("%s: without a width %q", tt.name, got)
		}
	}
}

func TestFoldForANarrowTerminal(t *testing.T) {
	for columns, want := range map[int]string{-1: "a b", 0: "a b", 1: "a\nb", 3: "a\nb", 4: "a b"} {
		if got := Fold("a b", columns); got != want {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
}

func TestSafeRunes(t *testing.T) {
	for text, want := range map[string]string{
		"\x1f ~\x7f": "\u241f ~\u2421", "\u0080\u009f\u00a0": "\ufffd\ufffd\u00a0", "\u2027\u2028\u2029\u202f": "\u2027\ufffd\ufffd\u202f",
		"\u202a\u202e": "\ufffd\ufffd", "\u2065\u2066\u2069\u206a": "\u2065\ufffd\ufffd\u206a", "a\r\nb\rc": "a\nb\u240dc",
		"\xff": "\ufffd", "a\xe5": "a\ufffd", "\ufffd": "\ufffd",
	} {
		if got := Safe(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	if got := SafeLine("a\nb\tc\r\nd"); got != "a b c d" {
		t.Errorf("the line is %q", got)
	}
}

func TestSafeLinesMarksEachFurtherLine(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "one": "one", "one\n": "one", "one\r\ntwo\nTo repair it, type: x": "one\n  | two\n  | To repair it, type: x",
	} {
		if got := SafeLines(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
