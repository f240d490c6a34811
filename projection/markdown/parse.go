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
	d, _ := parse(source, nil)
	return d
}

// parse is Parse of a text that follows link definitions. It also returns the definitions in the text.
func parse(source string, known []parser.Reference) (Document, []parser.Reference) {
	pc := parser.NewContext()
	for _, reference := range known {
		pc.AddReference(reference)
	}
	u := &usage{starts: map[ast.Node]int{}, ends: map[ast.Node]int{}}
	pc.Set(usageKey, u)
	c := converter{source: source, bytes: []byte(source), usage: u, lastLine: strings.LastIndexByte(source, '\n') + 1}
	blocks := c.blocks(goldmark().Parse(text.NewReader(c.bytes), parser.WithContext(pc)), true)
	return Document{Blocks: blocks, Code: c.code}, pc.References()
}

// goldmark returns the parser. The first call builds it.
var goldmark = sync.OnceValue(func() parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(overflow{}, 0),
			util.Prioritized(blockCounter{parser.NewSetextHeadingParser()}, 100),
			util.Prioritized(blockCounter{parser.NewThematicBreakParser()}, 200),
			util.Prioritized(container{lineCounter{blockCounter{parser.NewListParser()}}}, 300),
			util.Prioritized(lineCounter{blockCounter{parser.NewListItemParser()}}, 400),
			util.Prioritized(codeBlock{lineCounter{blockCounter{parser.NewCodeBlockParser()}}}, 500),
			util.Prioritized(blockCounter{parser.NewATXHeadingParser()}, 600),
			util.Prioritized(codeBlock{lineCounter{blockCounter{parser.NewFencedCodeBlockParser()}}}, 700),
			util.Prioritized(container{lineCounter{blockCounter{parser.NewBlockquoteParser()}}}, 800),
			util.Prioritized(blockCounter{parser.NewParagraphParser()}, 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(codeSpans{parser.NewCodeSpanParser()}, 100),
			util.Prioritized(delimiter{parser.NewLinkParser()}, 200),
			util.Prioritized(delimiter{parser.NewAutoLinkParser()}, 300),
			util.Prioritized(delimiter{parser.NewEmphasisParser()}, 500),
			util.Prioritized(delimiter{strikethroughs{}}, 600),
		),
		parser.WithParagraphTransformers(util.Prioritized(definitions{parser.LinkReferenceParagraphTransformer}, 100),
			util.Prioritized(tables{}, 200)),
	)
})
