package wrap

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
)

// onScreen returns what a terminal shows of a text that moves the cursor back and erases.
func onScreen(t *testing.T, text string) string {
	t.Helper()
	back := regexp.MustCompile("\x1b\\[([0-9]+)D\x1b\\[K")
	for at := back.FindStringSubmatchIndex(text); at != nil; at = back.FindStringSubmatchIndex(text) {
		columns, err := strconv.Atoi(text[at[2]:at[3]])
		if err != nil {
			t.Fatal(err)
		}
		before := text[:at[0]]
		for columns > 0 {
			letters := []rune(before)
			columns -= displaywidth.Rune(letters[len(letters)-1])
			before = string(letters[:len(letters)-1])
		}
		text = before + text[at[1]:]
	}
	if strings.Contains(text, "\x1b") {
		t.Fatalf("unknown sequence in %q", text)
	}
	return text
}

var wrappings = []struct{ name, text, want string }{
	{"words", "Ada says that the quick brown fox jumps", "Ada says that the\nquick brown fox\njumps"},
	{"a word that ends with the line", "one two three fours five", "one two three fours\nfive"},
	{"a second line", "one\ntwo three four five six", "one\ntwo three four five\nsix"},
	{"a tab", "ab\tcd efgh ijkl mnop", "ab\tcd efgh\nijkl mnop"},
	{
		"a tab after a word longer than a line", "see https://example.org/a/long/path\tx and more",
		"see \nhttps://example.org/a/long/path\tx \nand more",
	},
	{"variation selectors", strings.Repeat("\u2764\ufe0f", 30), strings.Repeat("\u2764\ufe0f", 30)},
	{
		"a word longer than a line", "see https://example.org/a/long/path and more",
		"see \nhttps://example.org/a/long/path and\nmore",
	},
	{"no blank at all", strings.Repeat("x", 60), strings.Repeat("x", 60)},
	{"East Asian text", "请帮我用写一个计算器要求支持", "请帮我用写一个计算\n器要求支持"},
	{"mixed text", "this is 计算器 and words again", "this is 计算器 and \nwords again"},
	{
		"fenced code", "so:\n```sh\nagent-chatter chat --resume latest\n```\nand then words again",
		"so:\n```sh\nagent-chatter chat --resume latest\n```\nand then words\nagain",
	},
	{
		"a fence in a longer one", "````\n```\nnot wrapped, since it is code\n````\nthis line is wrapped",
		"````\n```\nnot wrapped, since it is code\n````\nthis line is\nwrapped",
	},
	{
		"a fence of the other kind", "~~~\n```\nnot wrapped, since it is code\n~~~\nthis line is wrapped",
		"~~~\n```\nnot wrapped, since it is code\n~~~\nthis line is\nwrapped",
	},
	{"a code span of three backticks", "```x```\nthis line is wrapped", "```x```\nthis line is\nwrapped"},
	{
		"indented code", "    agent-chatter chat --resume latest\nand then words again",
		"    agent-chatter chat --resume latest\nand then words\nagain",
	},
	{"a table", "| one | two | three | four | five |", "| one | two | three | four | five |"},
}

func TestWrapperBreaksBetweenWords(t *testing.T) {
	for _, tt := range wrappings {
		for _, size := range []int{1, 2, 3, 7, 100} {
			w := &Wrapper{Width: func() int { return 20 }}
			var printed strings.Builder
			for letters := []rune(tt.text); len(letters) > 0; {
				n := min(size, len(letters))
				printed.WriteString(w.Pass(string(letters[:n])))
				letters = letters[n:]
			}
			trimmed := strings.ReplaceAll(onScreen(t, printed.String()), " \n", "\n")
			if want := strings.ReplaceAll(tt.want, " \n", "\n"); trimmed != want {
				t.Errorf("%s, in pieces of %d:\n%s\nwant\n%s", tt.name, size, trimmed, want)
			}
		}
	}
}

func TestWrapperBeginsAfterTheName(t *testing.T) {
	w := &Wrapper{Width: func() int { return 20 }}
	w.Begin("Planner: ")
	if got := onScreen(t, "Planner: "+w.Pass("something like this")); got != "Planner: something \nlike this" {
		t.Errorf("got %q", got)
	}
}

func TestWrapperWithoutWidthBreaksNothing(t *testing.T) {
	w := new(Wrapper)
	text := strings.Repeat("some words ", 50)
	if got := w.Pass(text); got != text {
		t.Errorf("got %q", got)
	}
}

// A word of 60 MB, as minified code or the data of an image may be, is a reply like any other.
func BenchmarkWrapperLongWord(b *testing.B) {
	piece := strings.Repeat("x", 32<<10)
	b.SetBytes(60 << 20)
	for b.Loop() {
		w := &Wrapper{Width: func() int { return 80 }}
		for range (60 << 20) / len(piece) {
			w.Pass(piece)
		}
	}
}
