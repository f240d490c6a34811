package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The limits of one call of Parse. goldmark has none: without them, nested containers cost the square of the
// text, and so do brackets, emphasis and backticks that are not closed.
const (
	maxDepth       = 32      // levels of containers
	maxBlocks      = 1 << 17 // blocks and cells of tables
	maxLines       = 1 << 20 // lines, each counted once for each container that it is in
	maxWork        = 1 << 22 // bytes of a paragraph, counted once for each delimiter in it
	maxTotalWork   = 1 << 28 // of all paragraphs
	maxCodeSpans   = 1 << 17
	maxDefinitions = 1 << 10 // lines of a paragraph that begins with a link definition
)

// A usage counts toward the limits of one call of Parse. It also holds positions that goldmark does not keep.
type usage struct {
	blocks, lines, spans, totalWork int

	starts map[ast.Node]int // of blocks after a tab, where goldmark's position is wrong
	ends   map[ast.Node]int // of links and of closed fenced code blocks

	paragraph ast.Node // the paragraph of work and runs
	work      int
	runs      map[int]int // where the last run of backticks of each length starts; nil: unknown
}

var usageKey = parser.NewContextKey()

func usageOf(pc parser.Context) *usage {
	return pc.Get(usageKey).(*usage)
}

// usageIn returns the usage with work and runs for the paragraph.
func usageIn(paragraph ast.Node, pc parser.Context) *usage {
	u := usageOf(pc)
	if u.paragraph != paragraph {
		u.paragraph, u.work, u.runs = paragraph, 0, nil
	}
	return u
}

// exceeded reports whether the rest of the source is plain text.
func (u *usage) exceeded() bool {
	return u.blocks > maxBlocks || u.lines > maxLines
}

// A blockCounter counts the blocks that a parser opens and corrects their positions: after a tab that is partly
// indentation, goldmark's are too far.
type blockCounter struct{ parser.BlockParser }

func (b blockCounter) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, line := reader.Position()
	start := line.Start + max(pc.BlockOffset()-line.Padding, 0)
	node, state := b.BlockParser.Open(parent, reader, pc)
	if node != nil {
		u := usageOf(pc)
		u.blocks++
		if line.Padding > 0 && state&parser.RequireParagraph == 0 {
			u.starts[node] = start
		}
	}
	return node, state
}

// A lineCounter counts the lines in a container or a code block, and ends it when a limit is exceeded.
type lineCounter struct{ blockCounter }

func (l lineCounter) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	u := usageOf(pc)
	u.lines++
	if u.exceeded() {
		return parser.Close
	}
	return l.blockCounter.Continue(node, reader, pc)
}

// A container is a list or a quote of limited depth. The parser of list items has no such limit, since
// goldmark relies on a list having an item.
type container struct{ lineCounter }

func (c container) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	depth := 0
	for n := parent; n.Parent() != nil; n = n.Parent() {
		if n.Kind() != ast.KindListItem {
			depth++
		}
	}
	if depth >= maxDepth {
		return nil, parser.NoChildren
	}
	return c.lineCounter.Open(parent, reader, pc)
}

// A codeBlock records where the closing fence ends.
type codeBlock struct{ lineCounter }

func (c codeBlock) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	_, line := reader.PeekLine()
	state := c.lineCounter.Continue(node, reader, pc)
	if u := usageOf(pc); state == parser.Close && node.Kind() == ast.KindFencedCodeBlock && !u.exceeded() {
		u.ends[node] = line.Stop
	}
	return state
}

// An overflow parses the rest of the source as plain text when a limit is exceeded. It is the first parser that
// goldmark calls on a line, so it also counts the lines.
type overflow struct{}

func (overflow) Trigger() []byte {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return all
}

func (overflow) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	u := usageOf(pc)
	u.lines++
	if !u.exceeded() || parent.Parent() != nil {
		return nil, parser.NoChildren
	}
	return &plainText{}, parser.NoChildren
}

func (overflow) Continue(ast.Node, text.Reader, parser.Context) parser.State {
	return parser.Continue | parser.NoChildren
}

func (overflow) Close(ast.Node, text.Reader, parser.Context) {}
func (overflow) CanInterruptParagraph() bool                 { return true }
func (overflow) CanAcceptIndentedLine() bool                 { return true }

// A plainText is the block that overflow opens.
type plainText struct{ ast.BaseBlock }

var kindPlainText = ast.NewNodeKind("PlainText")

func (*plainText) Kind() ast.NodeKind { return kindPlainText }
func (*plainText) Dump([]byte, int)   {}

// A delimiter limits the work for links and emphasis, and records where links end. For each delimiter goldmark
// may search the whole paragraph.
type delimiter struct{ parser.InlineParser }

func (d delimiter) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	u := usageIn(parent, pc)
	lines := parent.Lines()
	length := lines.At(lines.Len()-1).Stop - lines.At(0).Start
	if u.work+length > maxWork || u.totalWork+length > maxTotalWork {
		return nil
	}
	u.work += length
	u.totalWork += length
	node := d.InlineParser.Parse(parent, block, pc)
	switch node.(type) {
	case *ast.Link, *ast.Image:
		_, at := block.Position()
		u.ends[node] = at.Start
	}
	return node
}

// CloseBlock is called at the end of each paragraph.
func (d delimiter) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := d.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// A codeSpans parses code spans. goldmark alone searches the paragraph to its end for each run of backticks that
// is not closed.
type codeSpans struct{ parser.InlineParser }

func (c codeSpans) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	u := usageIn(parent, pc)
	if u.runs == nil {
		u.runs = lastRuns(block.Source(), parent.Lines())
	}
	line, at := block.PeekLine()
	n := runLength(line, 0)
	if u.runs[n] <= at.Start || u.spans > maxCodeSpans {
		block.Advance(n)
		return ast.NewTextSegment(at.WithStop(at.Start + n))
	}
	u.spans++
	return c.InlineParser.Parse(parent, block, pc)
}

// lastRuns returns where in the source the last run of backticks of each length starts. There are few
// lengths, since all runs have to fit.
func lastRuns(source []byte, lines *text.Segments) map[int]int {
	runs := make(map[int]int)
	for _, line := range lines.Sliced(0, lines.Len()) {
		for i := line.Start; i < line.Stop; i++ {
			if source[i] == '`' {
				n := runLength(source[:line.Stop], i)
				runs[n] = i
				i += n - 1
			}
		}
	}
	return runs
}

// runLength returns how many times s[at] stands in a row there.
func runLength[S []byte | string](s S, at int) int {
	n := 1
	for at+n < len(s) && s[at+n] == s[at] {
		n++
	}
	return n
}

// A definitions skips long paragraphs when searching for link definitions: goldmark copies all lines of the
// paragraph for each definition.
type definitions struct{ parser.ParagraphTransformer }

func (d definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxDefinitions {
		d.ParagraphTransformer.Transform(node, reader, pc)
	}
}
