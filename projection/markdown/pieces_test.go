package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// pieceOutline returns pieces in a short form, separated by " | ": the containers, in parentheses if the piece is
// not the first in them, what else is true of it, and its block.
func pieceOutline(pieces []markdown.Piece) string {
	parts := make([]string, len(pieces))
	for i, p := range pieces {
		var words []string
		for _, c := range p.Containers {
			name := ">"
			if c.Kind == markdown.ListItem {
				name = "-"
			}
			if c.Ordered {
				name = fmt.Sprint(c.Number)
			}
			if !c.First {
				name = "(" + name + ")"
			}
			words = append(words, name)
		}
		if p.Blank {
			words = append(words, "blank")
		}
		if p.First {
			words = append(words, "first")
		}
		if p.Joined {
			words = append(words, "joined")
		}
		parts[i] = strings.Join(append(words, outline([]markdown.Block{p.Block})), " ")
	}
	return strings.Join(parts, " | ")
}

func TestMessageIsDividedIntoPieces(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"a\n\nb\n# c\n---", "paragraph(a) | blank paragraph(b) | heading1(c) | break"},
		{"a\n> \n> b", "paragraph(a) | > blank paragraph(b)"},
		{"```go\nx\n\ny\n```\nz", `first code[` + "```" + `|go|"x\n"] | code[` + "```" + `||"\n"] | code[` + "```" +
			`||"y\n"] | paragraph(z)`},
		{"- a\n-\n\n- c\n\n  d", "- paragraph(a) | - item | - blank paragraph(c) | (-) blank paragraph(d)"},
		{"3. a\n3. b\n   1. c\n   1. d\n> e", "3 paragraph(a) | 4 paragraph(b) | (4) 1 paragraph(c) | (4) 2 paragraph(d) | " +
			"> paragraph(e)"},
		{"> - a\n>   b\n> - c\n>\n> d", "> - paragraph(a\nb) | (>) - paragraph(c) | (>) blank paragraph(d)"},
		{"a\n|b|\n|-|\n\nc", "paragraph(a) | table<>{b}; | blank paragraph(c)"},
		{"a\n```x\n```", "paragraph(a) | "}, // the code block has no line
	} {
		if got := pieceOutline(whole(test.source)); got != test.want {
			t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
		}
	}
}

func TestPiecesThatMoreTextCanChangeAreHeld(t *testing.T) {
	for _, test := range []struct {
		source, final, held string
		shown, pending      string // the source of held, divided where the final pieces end
		fenced              bool
	}{
		{source: "a\n\nb", final: "paragraph(a)", held: "blank paragraph(b)", pending: "b"},
		{source: "a\n\n\n", final: "paragraph(a)", pending: "\n\n"},
		{source: "```go", pending: "```go"},
		{source: "```go\n", pending: "```go\n", fenced: true},
		{source: "~~~\nx\ny", final: `first code[~~~||"x\n"]`, held: `code[~~~||"y\n"]`, shown: "~~~\n", pending: "y",
			fenced: true},
		{source: "a\n\n ~~~~ go\nx\n", final: `paragraph(a) | blank first code[~~~~|go|"x\n"]`, shown: " ~~~~\n",
			fenced: true},
		{source: "~~~\nx\n~~~", final: `first code[~~~||"x\n"]`, shown: "~~~\n", pending: "~~~", fenced: true},
		{source: "~~~\nx\n~~~\n", final: `first code[~~~||"x\n"]`},
		{source: "~~~\nx\n~~~\na", final: `first code[~~~||"x\n"]`, held: "paragraph(a)", pending: "a"},
		{source: "    x\n", final: `first code[||"x\n"]`, shown: "    x\n"},
		{source: "> ~~~\n> a\n> b", final: `> first code[~~~||"a\n"]`, held: `(>) code[~~~||"b\n"]`,
			shown: "> ~~~\n> a\n", pending: "> b"},
		{source: "- a\n- b\n- c", final: "- paragraph(a)", held: "- paragraph(b) | - paragraph(c)", pending: "- b\n- c"},
		{source: "4. a\n4. b\n4. c", final: "4 paragraph(a)", held: "5 paragraph(b) | 6 paragraph(c)",
			pending: "4. b\n4. c"},
		{source: "|a|\n|-|\n|b|\n|c", held: "table<>{a};{b};{c};", pending: "|a|\n|-|\n|b|\n|c"},
	} {
		var s markdown.Stream
		final := pieceOutline(s.Write(test.source))
		held := pieceOutline(s.Held())
		if final != test.final || held != test.held || s.Fenced() != test.fenced {
			t.Errorf("%q\n got %q, %q, %t\nwant %q, %q, %t", test.source, final, held, s.Fenced(), test.final, test.held,
				test.fenced)
		}
		if source, n := s.Pending(); source[:n] != test.shown || source[n:] != test.pending {
			t.Errorf("%q: pending are %q and %q, want %q and %q", test.source, source[:n], source[n:], test.shown,
				test.pending)
		}
		s.Close()
		if source, n := s.Pending(); source != "" || n != 0 || s.Fenced() || len(s.Held()) > 0 {
			t.Errorf("%q: after Close %q, %d, %t, %v", test.source, source, n, s.Fenced(), s.Held())
		}
	}
}

func TestRestOfCutBlockContinuesIt(t *testing.T) {
	long := strings.Repeat("~", 64)
	wide := "|" + strings.Repeat("a", 4<<10-len("||\n|-|\n")) + "|\n|-|\n"
	for _, test := range []struct{ name, before, after, cut, rest string }{
		{"a paragraph", "a b ", "c", "paragraph(a b)", "joined paragraph(c)"},
		{"a paragraph in a list", "- a ", "b\n- c", "- paragraph(a)", "(-) joined paragraph(b) | - paragraph(c)"},
		{"blank lines", "a\n\n\n", "b", "paragraph(a)", "blank paragraph(b)"},
		{"a heading", "# a ", "b", "heading1(a)", "paragraph(b)"},
		{"a paragraph before a heading", "a ", "\n# b", "paragraph(a)", "blank heading1(b)"},
		{"code", "~~~go\na", "b\n~~~\nc", `first code[~~~|go|"a\n"]`, `code[~~~||"b\n"] | paragraph(c)`},
		{"code with a long fence", long + "\na", "b", `first code[` + long + `||"a\n"]`, `code[` + long + `||"b\n"]`},
		{"code with too long a fence", long + "~\na", "b", `first code[` + long + `~||"a\n"]`, `paragraph(b)`},
		{"indented code", "    a", "b", `first code[||"a\n"]`, "paragraph(b)"},
		{"a table", "|a|\n|-|\n|b|\n", "|c|\n\nd", "table<>{a};{b};", "table<>{a};{c}; | blank paragraph(d)"},
		{"a table after text", "x\n|a|\n|-|\n|b|\n", "|c|", "paragraph(x) | table<>{a};{b};", "table<>{a};{c};"},
		{"a table in a row", "|a|\n|-|\n|b", "|c|", "table<>{a};{b};", "paragraph(|c|)"},
		{"a table after its header", "|a|\n|-|\n", "|c|", "table<>{a};", "paragraph(|c|)"},
		{"a table with a wide header", wide + "|b|\n", "|c|", outline(markdown.Parse(wide + "|b|\n").Blocks),
			outline(markdown.Parse(wide + "|c|\n").Blocks)},
		{"a table with too wide a header", "|a" + wide[1:] + "|b|\n", "|c|",
			outline(markdown.Parse("|a" + wide[1:] + "|b|\n").Blocks), "paragraph(|c|)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var s markdown.Stream
			pieces := s.Write(test.before)
			pending, _ := s.Pending()
			peeked := pieceOutline(append(pieces, s.Peek(len(pending))...))
			pieces = append(pieces, s.Cut(len(pending))...)
			if cut := pieceOutline(pieces); cut != test.cut || peeked != cut {
				t.Errorf("cut  %q\npeek %q\nwant %q", cut, peeked, test.cut)
			}
			rest := append(s.Write(test.after), s.Close()...)
			if got := pieceOutline(rest); got != test.rest {
				t.Errorf("rest %q\nwant %q", got, test.rest)
			}
			sources := ""
			for _, p := range append(pieces, rest...) {
				sources += p.Source
			}
			if sources != test.before+test.after {
				t.Errorf("the sources are %q", sources)
			}
		})
	}
}

// A stream keeps 32 KiB that are not final.
func TestLongParagraphIsDividedAtBlank(t *testing.T) {
	const limit = 32 << 10
	words := func(n int) string { return strings.Repeat("w", n) }
	for _, test := range []struct {
		name, text string
		want       int // bytes of the first piece
	}{
		{"as long as the limit", words(limit), limit},
		{"one byte less", words(limit - 1), limit - 1},
		{"words", strings.Repeat("word ", limit/4), limit / 5 * 5},
		{"lines", strings.Repeat("line\n", limit/4), limit / 5 * 5},
		{"a blank in the middle", words(limit/2) + " " + words(limit), limit/2 + 1},
		{"a blank before the middle", words(limit/2-1) + " " + words(limit), limit},
		{"characters of three bytes", strings.Repeat("本", limit/2), limit / 3 * 3},
	} {
		var s markdown.Stream
		pieces := s.Write(test.text)
		divided := len(pieces) > 0
		pieces = append(pieces, s.Close()...)
		if got := len(pieces[0].Source); got != test.want || divided != (len(test.text) >= limit) {
			t.Errorf("%s: the first piece has %d bytes, divided %t; want %d", test.name, got, divided, test.want)
		}
		for _, p := range pieces[1:] {
			if !p.Joined {
				t.Errorf("%s: a part is not joined: %.20q", test.name, p.Source)
			}
		}
	}
}

func TestRangesOfInlinesIncludeDelimiters(t *testing.T) {
	for _, test := range []struct{ source, want string }{
		{"*a* **b** `c` ~~d~~ [e](f) ![g](h)", "*a*(a)| |**b**(b)| |`c`| |~~d~~(d)| |[e](f)(e)| |![g](h)(g)"},
		{"<https://a> b\\*  \nc\nd &amp; e\\\nf", "<https://a>(https://a)| b\\*|  \n|c\nd &amp; e|\\\n|f"},
		{"`a\nb` c", "`a\nb`| c"},
		{"*a **b***)**", "*a **b***(a |**b**(b))|)**"},
		{"[a][b]c\n\n[b]: d", "[a][b](a)|c"},
		{"[a](b\n\"c\")\nd", "[a](b\n\"c\")(a)|\nd"},
		{"|a `b`|\n|-|", "a |`b`"},
	} {
		d := markdown.Parse(test.source)
		inlines := d.Blocks[0].Inlines
		for _, row := range d.Blocks[0].Rows {
			for _, cell := range row {
				inlines = append(inlines, cell...)
			}
		}
		var ranges func(inlines []markdown.Inline) string
		ranges = func(inlines []markdown.Inline) string {
			parts := make([]string, len(inlines))
			for i, in := range inlines {
				parts[i] = test.source[in.Start:in.End]
				if len(in.Inlines) > 0 {
					parts[i] += "(" + ranges(in.Inlines) + ")"
				}
			}
			return strings.Join(parts, "|")
		}
		if got := ranges(inlines); got != test.want {
			t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
		}
	}
}
