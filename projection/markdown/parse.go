package markdown

import (
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Parse parses a message. Bytes that are not UTF-8 are kept. The strings of the document share the memory
// of source where they can.
func Parse(source string) Document {
	pc := parser.NewContext()
	u := &usage{starts: map[ast.Node]int{}, ends: map[ast.Node]int{}}
	pc.Set(usageKey, u)
	c := converter{source: source, bytes: []byte(source), usage: u, lastLine: strings.LastIndexByte(source, '\n') + 1}
	blocks := c.blocks(newParser().Parse(text.NewReader(c.bytes), parser.WithContext(pc)), true)
	return Document{Blocks: blocks, Code: c.code}
}

// newParser returns the parser. It is built by the first call, not when the program starts.
var newParser = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(overflow{}, 0),
			util.Prioritized(leaf{parser.NewSetextHeadingParser()}, 100),
			util.Prioritized(leaf{parser.NewThematicBreakParser()}, 200),
			util.Prioritized(container{leaf{parser.NewListParser()}}, 300),
			util.Prioritized(item{leaf{parser.NewListItemParser()}}, 400),
			util.Prioritized(code{leaf{parser.NewCodeBlockParser()}}, 500),
			util.Prioritized(leaf{parser.NewATXHeadingParser()}, 600),
			util.Prioritized(code{leaf{parser.NewFencedCodeBlockParser()}}, 700),
			util.Prioritized(container{leaf{parser.NewBlockquoteParser()}}, 800),
			util.Prioritized(leaf{parser.NewParagraphParser()}, 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(codeSpans{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(inline{parser.NewLinkParser()}, 200),
			util.Prioritized(inline{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(inline{parser.NewEmphasisParser()}, 500),
		),
		parser.WithParagraphTransformers(
			util.Prioritized(definitions{parser.LinkReferenceParagraphTransformer}, 100),
			util.Prioritized(tables{}, 200),
		),
	)
})
