package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// outline returns the blocks in a short form, such as "paragraph(text)".
func outline(blocks []markdown.Block) string {
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(string(block.Kind))
		switch block.Kind {
		case markdown.Heading:
			fmt.Fprint(&b, block.Level)
		case markdown.CodeBlock:
			fmt.Fprintf(&b, "[%s|%s|%q]", block.Fence, block.Language, block.Text)
		case markdown.List:
			if block.Ordered {
				fmt.Fprint(&b, block.Number)
			}
			if block.Tight {
				b.WriteString("tight")
			}
		}
		switch {
		case len(block.Blocks) > 0:
			fmt.Fprintf(&b, "(%s)", outline(block.Blocks))
		case len(block.Inlines) > 0:
			fmt.Fprintf(&b, "(%s)", inlineOutline(block.Inlines))
		}
		for _, align := range block.Align {
			fmt.Fprintf(&b, "<%s>", align)
		}
		for _, row := range block.Rows {
			for _, cell := range row {
				fmt.Fprintf(&b, "{%s}", inlineOutline(cell))
			}
			b.WriteByte(';')
		}
	}
	return b.String()
}

func inlineOutline(inlines []markdown.Inline) string {
	var b strings.Builder
	for _, i := range inlines {
		switch i.Kind {
		case markdown.Text:
			b.WriteString(i.Text)
		case markdown.LineBreak:
			b.WriteString("<br>")
		default:
			destination := ""
			if i.Destination != "" {
				destination = i.Destination + "|"
			}
			fmt.Fprintf(&b, "<%s %s%s%s>", i.Kind, destination, i.Text, inlineOutline(i.Inlines))
		}
	}
	return b.String()
}

func TestParseReturnsBlocks(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"nothing", "", ""},
		{"blank lines", "\n \n", ""},
		{"paragraphs", "one\ntwo\n\nthree", "paragraph(one\ntwo) paragraph(three)"},
		{"headings", "# a\n## b ##\nc\n===\n", "heading1(a) heading2(b) heading1(c)"},
		{"fenced code", "```go run\nx\n\ny\n```\n", "code[```|go|\"x\\n\\ny\\n\"]"},
		{"a fence of tildes", "~~~~\n```\n~~~~", "code[~~~~||\"```\\n\"]"},
		{"an open fence", "```\nx", "code[```||\"x\\n\"]"},
		{"indented code", "    x\n      y", "code[||\"x\\n  y\\n\"]"},
		{"code in a list", "- a\n\n  ```\n  x\n  ```", "list(item(paragraph(a) code[```||\"x\\n\"]))"},
		{"a tight list", "- a\n- b", "listtight(item(paragraph(a)) item(paragraph(b)))"},
		{"a numbered list", "7. a\n8. b", "list7tight(item(paragraph(a)) item(paragraph(b)))"},
		{"a list in a list", "* a\n  * b", "listtight(item(paragraph(a) listtight(item(paragraph(b)))))"},
		{"a quote", "> a\n> # b\nc", "quote(paragraph(a) heading1(b)) paragraph(c)"},
		{"a thematic break", "a\n\n---\n", "paragraph(a) break"},
		{"HTML", "<div>\n*a*\n</div>\n\na <b>c</b>", "paragraph(<div>\n<emphasis a>\n</div>) paragraph(a <b>c</b>)"},
		{"link definitions", "[a]\n\n[a]: /b\n", "paragraph(<link /b|a>)"},
		{"carriage returns", "a\r\nb\r\n\r\n```\r\nc\r\n```\r\n", "paragraph(a\nb) code[```||\"c\\r\\n\"]"},
		{"a bracket that its paragraph does not close", "[a\n\nb](c)", "paragraph([a) paragraph(b](c))"},
		{"a backtick that its paragraph does not close", "`a\n\n`b`", "paragraph(`a) paragraph(<code b>)"},
		{"not UTF-8", "\xff *\xfe*", "paragraph(\xff <emphasis \xfe>)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(markdown.Parse(test.source).Blocks); got != test.want {
				t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestParseReturnsInlines(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"strikethrough", "~~a~~ ~~**b** `~~` c~~ [~~d~~](e)",
			"<strikethrough a> <strikethrough <strong b> <code ~~> c> <link e|<strikethrough d>>"},
		{"no strikethrough", "~a~ HEAD~1 and HEAD~2, ~/b ~~~c~~~ ~~ d ~~ ~~e \\~~f\\~~ ~~~~",
			"~a~ HEAD~1 and HEAD~2, ~/b ~~~c~~~ ~~ d ~~ ~~e ~~f~~ ~~~~"},
		{"strikethrough across emphasis", "~~a *b~~ c*", "<strikethrough a *b> c*"},
		{"emphasis", "*a* _b_ **c** ***d***", "<emphasis a> <emphasis b> <strong c> <emphasis <strong d>>"},
		{"code spans", "`a` `` b ` c `` `d\ne`", "<code a> <code b ` c> <code d e>"},
		{"an open code span", "`` a ` b", "`` a ` b"},
		{"links", "[a *b*](/c \"t\")", "<link /c|a <emphasis b>>"},
		{"autolinks", "<https://a> <b@c.d>", "<link https://a|https://a> <link mailto:b@c.d|b@c.d>"},
		{"images", "![a](/b)", "<image /b|a>"},
		{"escapes", `\*a\* \b &amp; &#65; &nope; \&amp;`, `*a* \b & A &nope; &amp;`},
		{"an escape at the end", `a\*`, "a*"},
		{"escapes in a link", `[a](/b\)&amp;)`, "<link /b)&|a>"},
		{"line breaks", "a  \nb\\\nc\nd", "a<br>b<br>c\nd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(markdown.Parse(test.source).Blocks); got != "paragraph("+test.want+")" {
				t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestParseReturnsTables(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"a table", "| a | b |\n|---|:-:|\n| c | *d* |\n", "table<><center>{a}{b};{c}{<emphasis d>};"},
		{"without outer pipes", "a | b\n:- | -:\nc | d", "table<left><right>{a}{b};{c}{d};"},
		{"a header alone", "|a|\n|-|\n\nb", "table<>{a}; paragraph(b)"},
		{"short and long rows", "|a|b|\n|-|-|\n|c|\n|d|e|f|", "table<><>{a}{b};{c};{d}{e}{f};"},
		{"escaped pipes", "|a|\n|-|\n|b \\| `c \\| d`|", "table<>{a};{b | <code c | d>};"},
		{"after text", "text\n|a|\n|-|\n|b|", "paragraph(text) table<>{a};{b};"},
		{"before a thematic break", "text\n|a|\n|-|\n---", "paragraph(text) table<>{a}; break"},
		{"another number of columns", "|a|b|\n|-|", "paragraph(|a|b|\n|-|)"},
		{"an indented delimiter row", "|a|\n   |-|", "table<>{a};"},
		{"a delimiter row that is indented too far", "|a|\n    |-|", "paragraph(|a|\n|-|)"},
		{"in a quote", "> |a|\n> |-|\n> |b|", "quote(table<>{a};{b};)"},
		{"before a backslash in code", "|a|\n|-|\n\n`b \\| c`", "table<>{a}; paragraph(<code b \\| c>)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := outline(markdown.Parse(test.source).Blocks); got != test.want {
				t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestRangesAreWholeMarkup(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"a paragraph", "\n  a\nb\n\nc", "a\nb\n|c"},
		{"headings", " # a\n\nb\n=\nc", "# a\n|b\n=\n|c"},
		{"a fence", " ```\nx\n ```\nc", "```\nx\n ```\n|c"},
		{"an open fence", "~~~\nx\n\n", "~~~\nx\n\n"},
		{"a list", " - a\n\n   b\n\nc", "- a\n\n   b\n|c"},
		{"a quote", "> a\nb\n\nc", "> a\nb\n|c"},
		{"a table", "|a|\n|-|\n\nc", "|a|\n|-|\n|c"},
		{"after a tab", "-\t***\n-\t#\n-\t~~~\n", "-\t***\n-\t#\n-\t~~~\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var parts []string
			for _, b := range markdown.Parse(test.source).Blocks {
				parts = append(parts, test.source[b.Start:b.End])
			}
			if got := strings.Join(parts, "|"); got != test.want {
				t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestCodeIsEachSpanAndBlock(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"none", "a [b] `", ""},
		{"spans", "a `b` ``c`d``", "`b`|``c`d``"},
		{"a span over two lines", "> a `b\n> ` c", "`b\n> `"},
		{"a span with blanks", "`` ` `` `\n`", "`` ` ``|`\n`"},
		{"spans in other inlines", "*a `b`* [`c`](d)", "`b`|`c`"},
		{"spans in a table", "|`a`|b|\n|-|-|\n|c|`d`|", "`a`|`d`"},
		{"fences", "```x\na\n```\n~~~\nb", "```x\na\n```\n|~~~\nb"},
		{"indented code", "a\n\n    b\n", "b\n"},
		{"a fence in a quote", "> ```\n> a\n> ```\n", "```\n> a\n> ```\n"},
		{"a fence after a tab", "-\t~~~\n\ta\n\t~~~\n", "~~~\n\ta\n\t~~~\n"},
		{"a fence after a tab and a blank", "-\t ~~~\n\t a", "~~~\n\t a"},
		{"a fence that its item ends", "- ```\n  a\nb", "```\n  a\n"},
		{"no span across items", "- `a\n- b`", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var parts []string
			for _, r := range markdown.Parse(test.source).Code {
				parts = append(parts, test.source[r.Start:r.End])
			}
			if got := strings.Join(parts, "|"); got != test.want {
				t.Errorf("%q\n got %q\nwant %q", test.source, got, test.want)
			}
		})
	}
}

func TestBlocksAreOpenUntilNoTextCanChangeThem(t *testing.T) {
	for _, test := range []struct {
		source string
		want   string // for each block: o, open, or c, closed
	}{
		{"a", "o"},
		{"a\n", "o"},
		{"a\n\n", "c"},
		{"# a", "o"},
		{"# a\n", "c"},
		{"a\n-", "o"},
		{"a\n-\n", "c"},
		{"---\n", "c"},
		{"```\na\n", "o"},
		{"```\na\n```", "o"},
		{"```\na\n```\n", "c"},
		{"- a\n\n", "o"},
		{"- a\n*", "oo"}, // "* b" is another list, "**b**" continues the item
		{"- a\n* b\n", "co"},
		{"> a\n", "o"},
		{"> a\n\n", "c"},
		{"    a\n\n", "o"},
		{"|a|\n|-|\n", "o"},
		{"|a|\n|-|\n\n", "c"},
		{"a\n|b|\n|-", "oo"},
		{"a\n|b|\n|-|\n", "oo"},
		{"a\n|b|\n|-|\n\n", "cc"},
		{"a\n\nb", "co"},
	} {
		got := ""
		for _, b := range markdown.Parse(test.source).Blocks {
			got += map[bool]string{true: "o", false: "c"}[b.Open]
		}
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.source, got, test.want)
		}
	}
}

func TestOnlyTheLastItemOfAnOpenListIsOpen(t *testing.T) {
	list := markdown.Parse("- a\n- b\n\n  c\n").Blocks[0]
	items := list.Blocks
	if !list.Open || items[0].Open || !items[1].Open || items[1].Blocks[0].Open || !items[1].Blocks[1].Open {
		t.Errorf("%+v", list)
	}
}

func TestBlocksOfClosedQuoteAreClosed(t *testing.T) {
	for _, source := range []string{"> a\n\n", "> - a\n\n", "> a\n>\n> b\n\n"} {
		quote := markdown.Parse(source).Blocks[0]
		for blocks := quote.Blocks; len(blocks) > 0; blocks = blocks[len(blocks)-1].Blocks {
			if quote.Open || blocks[len(blocks)-1].Open {
				t.Errorf("%q: %+v", source, quote)
			}
		}
	}
}

func ExampleParse() {
	const source = "Run this:\n\n```sh\ngo test ./...\n```\n"
	for _, b := range markdown.Parse(source).Blocks {
		switch b.Kind {
		case markdown.Paragraph:
			fmt.Println(b.Inlines[0].Text)
		case markdown.CodeBlock:
			fmt.Printf("%s: %q\n", b.Language, b.Text)
		}
	}
	// Output:
	// Run this:
	// sh: "go test ./...\n"
}
