package markdown_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/sizetest"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// hostile returns texts of about size bytes that cost a parser without limits the square of it.
func hostile(size int) map[string]string {
	fill := func(unit string) string { return strings.Repeat(unit, 1+size/len(unit)) }
	growing := strings.Builder{} // runs of backticks, no two of the same length
	for n := 1; growing.Len() < size; n++ {
		growing.WriteString(strings.Repeat("`", n) + " ")
	}
	return map[string]string{
		"opening brackets":     fill("["),
		"nested brackets":      fill("[") + fill("]"),
		"nested in paragraphs": fill(strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "\n\n"),
		"open links":           fill("[a]("),
		"open titles":          fill(`[a]("b`),
		"images":               fill("![![](b)"),
		"emphasis":             fill("*a _b "),
		"emphasis in links":    fill("[*a](b)"),
		"closing emphasis":     fill(strings.Repeat("*a ", 350) + strings.Repeat("a_ ", 350) + "\n\n"),
		"strikethrough":        fill(strings.Repeat("~~a ", 350) + strings.Repeat("a~~b ", 350) + "\n\n"),
		"asterisks":            fill("a**b"),
		"backticks":            fill("` `` "),
		"growing backticks":    growing.String(),
		"angle brackets":       fill("<a:"),
		"quotes":               fill(">") + "\n" + fill("a\n"),
		"lists":                fill("- ") + fill("\n"),
		"lists, blank lines":   strings.Repeat("- ", 100) + "a" + fill("\n"),
		"growing indentation":  indented(size),
		"empty items":          fill("-\n"),
		"blank lines":          fill("\n"),
		"lines":                fill("a\n"),
		"paragraphs":           fill("a\n\n"),
		"fences":               fill("```\n"),
		"lines of code":        "```\n" + fill("\n"),
		"columns":              fill("|a") + "\n" + fill("|-") + "\n",
		"short rows":           fill("|a") + "\n" + fill("|-") + "\n" + fill("|\n"),
		"delimiter rows":       fill("|-\n"),
		"definitions":          fill("[a]: b\n"),
		"definitions, blanks":  fill("[a]: b\n\n"),
		"entities":             fill("&"),
		"a word":               fill("a"),
	}
}

func indented(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.Repeat("  ", i%1000) + "- a\n")
	}
	return b.String()
}

// TestHostileTextCostsLikeProse allows hostile text 50 times the time of prose. Without limits it takes
// thousands of times as long.
func TestHostileTextCostsLikeProse(t *testing.T) {
	sizetest.SkipUnlessFull(t, "takes seconds")
	const size = 256 << 10
	prose := strings.Repeat("Some *text* with `code` [and](links):\n\n- one\n- two\n\n```\ncode\n```\n\n", size/64)
	for name, source := range hostile(size) {
		t.Run(name, func(t *testing.T) {
			var usual, took time.Duration
			for range 3 {
				if usual, took = parsingTime(prose), parsingTime(source); took < 50*usual {
					return
				}
			}
			t.Errorf("%d bytes took %v, prose takes %v", len(source), took, usual)
		})
	}
}

func parsingTime(source string) time.Duration {
	start := time.Now()
	markdown.Parse(source)
	return time.Since(start)
}

func TestTextAfterALimitIsPlain(t *testing.T) {
	for _, test := range []struct{ name, source, last string }{
		{"blocks", strings.Repeat("a\n\n", 1<<17+1), "# b"},
		{"lines", strings.Repeat("a\n", 1<<20), "\n# b"},
		{"lines of code", "```\n" + strings.Repeat("\n", 1<<20), "```\n\n# b"},
		{"lines of a list", "- a\n" + strings.Repeat("\n", 1<<19), "  # b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if !sizetest.Full() && test.name != "lines of a list" {
				t.Skip("takes long")
			}
			blocks := markdown.Parse(test.source + test.last).Blocks
			last := blocks[len(blocks)-1]
			end := len(test.source + test.last)
			if last.Kind != markdown.Paragraph || last.End != end || !strings.HasSuffix(last.Inlines[0].Text, "# b") {
				t.Errorf("the last block is a %s at %v, want a paragraph that ends at %d", last.Kind, last.Range, end)
			}
		})
	}
}

// A table counts as the paragraph that it is parsed from and as its cells.
func TestTextAfterTheCellsOfALargeTableIsPlain(t *testing.T) {
	const limit = 1 << 17 // blocks and cells
	for _, test := range []struct {
		name, prefix string
		pipes        int
		next         string // line
		want         string // the kinds of all blocks
	}{
		{"as many as the limit", "", limit - 3, "# b", "table heading paragraph"},
		{"one more", "", limit - 2, "# b", "paragraph paragraph"},
		{"one more, indented code", "", limit - 2, "    b", "paragraph paragraph"},
		{"in a quote", "> ", limit - 3, "# b", "quote paragraph"},
	} {
		lines := []string{"|a|", "|-|", strings.Repeat("|", test.pipes), "", test.next, "", "# c"}
		source := test.prefix + strings.Join(lines, "\n"+test.prefix)
		var kinds []string
		blocks := markdown.Parse(source).Blocks
		for _, b := range blocks {
			kinds = append(kinds, string(b.Kind))
		}
		last := blocks[len(blocks)-1]
		if got := strings.Join(kinds, " "); got != test.want || last.End != len(source) {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if got := last.Inlines[0].Text; !strings.HasSuffix(source, got) || !strings.HasSuffix(got, "# c") {
			t.Errorf("%s: the last block is %q", test.name, got)
		}
	}
}

func TestDeepContainersAreText(t *testing.T) {
	for prefix, want := range map[string]int{"> ": 32, "- ": 2 * 32, "> 1. ": 3 * 16} { // an item counts as a level here
		depth, blocks := 0, markdown.Parse(strings.Repeat(prefix, 1000)+"a").Blocks
		for len(blocks) > 0 && len(blocks[0].Blocks) > 0 {
			blocks = blocks[0].Blocks
			depth++
		}
		if depth != want || len(blocks) == 0 || blocks[0].Kind != markdown.Paragraph {
			t.Errorf("%q: %d levels, then %+v", prefix, depth, blocks)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	source := strings.Repeat("Some *text* with `code` in it, and a list:\n\n- one\n- two\n\n```\ncode\n```\n\n", 1000)
	b.SetBytes(int64(len(source)))
	for b.Loop() {
		markdown.Parse(source)
	}
}

func TestLongParagraphHasNoDefinitions(t *testing.T) {
	const limit = 1 << 10 // lines
	for lines, want := range map[int]int{limit: 0, limit + 1: 1} {
		blocks := markdown.Parse(strings.Repeat("[a]: b\n", lines)).Blocks
		if len(blocks) != want {
			t.Errorf("%d lines: %d blocks, want %d", lines, len(blocks), want)
		}
	}
}

// The work for a paragraph is its length times the number of its delimiters.
func TestDelimitersAfterTheirLimitAreText(t *testing.T) {
	const paragraph, document = 1 << 22, 1 << 28
	pad := func(text string, size int) string { return text + strings.Repeat("a", size-len(text)) }
	brackets := func(n int) string { return pad(strings.Repeat("[", n), 4096) + "\n\n" }
	full := strings.Repeat(brackets(paragraph/4096), document/paragraph-1)
	for _, test := range []struct {
		name, source string
		want         bool
	}{
		{"a long paragraph", pad("*a*", paragraph/2), true},
		{"too long a paragraph", pad("*a*", paragraph/2+1), false},
		{"after a long paragraph", pad("*a* ", paragraph/2) + "\n\n*a*", true},
		{"after many delimiters", full + brackets(paragraph/4096-1) + pad("*a*", 2048), true},
		{"after too many delimiters", full + brackets(paragraph/4096-1) + pad("*a*", 2049), false},
	} {
		blocks := markdown.Parse(test.source).Blocks
		if got := blocks[len(blocks)-1].Inlines[0].Kind; (got == markdown.Emphasis) != test.want {
			t.Errorf("%s: the last paragraph begins with %s", test.name, got)
		}
	}
}

func TestCodeSpansAfterTheirLimitAreText(t *testing.T) {
	const limit = 1<<17 + 1
	if n := len(markdown.Parse(strings.Repeat("`a` ", limit+2)).Code); n != limit {
		t.Errorf("%d code spans, want %d", n, limit)
	}
}
