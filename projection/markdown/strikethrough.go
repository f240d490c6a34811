package markdown

import (
	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// strikethroughs parses "~~text~~". Unlike goldmark's extension it takes no single tildes, which are common in paths
// and in HEAD~1, and needs none of its renderers.
type strikethroughs struct{}

// tildes is how many tildes are a delimiter.
const tildes = 2

func (strikethroughs) Trigger() []byte { return []byte{'~'} }

func (s strikethroughs) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, tildes, s)
	if node == nil || node.OriginalLength != tildes || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + tildes)
	block.Advance(tildes)
	pc.PushDelimiter(node)
	return node
}

func (strikethroughs) IsDelimiter(b byte) bool { return b == '~' }

func (strikethroughs) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

func (strikethroughs) OnMatch(int) ast.Node { return extension.NewStrikethrough() }
