package markdown

import (
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// The limits of one call of Parse. goldmark has none: without them, nested containers cost the square of the
// text, and so do brackets, emphasis and backticks that nothing closes.
const (
	maxDepth       = 32      // levels of containers
	maxBlocks      = 1 << 17 // blocks and cells of tables
	maxLines       = 1 << 20 // lines, each counted once for each container that it is in
	maxWork        = 1 << 22 // bytes of a paragraph, counted once for each delimiter in it
	maxTotalWork   = 1 << 28 // of all paragraphs
	maxCodeSpans   = 1 << 17
	maxDefinitions = 1 << 10 // lines of a paragraph that begins with a link definition
)

// usage is what a call of Parse has used of its limits, and what it has found that goldmark does not keep.
type usage struct {
	blocks, lines, spans, total int // total is of maxTotalWork

	starts map[ast.Node]int // of blocks whose Pos is wrong, after a tab
	ends   map[ast.Node]int // of links and of closed fenced code blocks

	paragraph ast.Node    // the one that work and runs belong to
	work      int         // of maxWork
	runs      map[int]int // where the last run of backticks of each length starts; nil: not known
}

var usageKey = parser.NewContextKey()

func usageOf(pc parser.Context) *usage {
	return pc.Get(usageKey).(*usage)
}

// usageIn returns the usage, whose work and runs are those of the paragraph.
func usageIn(paragraph ast.Node, pc parser.Context) *usage {
	u := usageOf(pc)
	if u.paragraph != paragraph {
		u.paragraph, u.work, u.runs = paragraph, 0, nil
	}
	return u
}

// exceeded reports that the rest of the source is plain text.
func (u *usage) exceeded() bool {
	return u.blocks > maxBlocks || u.lines > maxLines
}

// A leaf counts the blocks that a parser opens. goldmark sets their position too far by what remains of a tab.
type leaf struct{ parser.BlockParser }

func (l leaf) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	_, line := reader.Position()
	start := line.Start + max(pc.BlockOffset()-line.Padding, 0)
	node, state := l.BlockParser.Open(parent, reader, pc)
	if node != nil {
		u := usageOf(pc)
		u.blocks++
		if line.Padding > 0 && state&parser.RequireParagraph == 0 {
			u.starts[node] = start
		}
	}
	return node, state
}

// An item counts the lines of a container.
type item struct{ leaf }

func (i item) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	u := usageOf(pc)
	u.lines++
	if u.exceeded() {
		return parser.Close
	}
	return i.leaf.Continue(node, reader, pc)
}

// A container limits the depth. A list must not be refused its items, so those are not containers.
type container struct{ leaf }

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
	return c.leaf.Open(parent, reader, pc)
}

func (c container) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	return item(c).Continue(node, reader, pc)
}

// code counts the lines of a code block and notes where its closing fence ends.
type code struct{ leaf }

func (c code) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	_, line := reader.PeekLine()
	state := item(c).Continue(node, reader, pc)
	if u := usageOf(pc); state == parser.Close && node.Kind() == ast.KindFencedCodeBlock && !u.exceeded() {
		u.ends[node] = line.Stop
	}
	return state
}

// overflow takes the rest of the source as plain text when a limit is exceeded. It is asked first on every
// line, so it also counts the lines.
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
	reader.AdvanceToEOL()
	return &plainText{}, parser.NoChildren
}

func (overflow) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

func (overflow) Close(ast.Node, text.Reader, parser.Context) {}
func (overflow) CanInterruptParagraph() bool                 { return true }
func (overflow) CanAcceptIndentedLine() bool                 { return true }

// plainText is the text that overflow takes.
type plainText struct{ ast.BaseBlock }

var kindPlainText = ast.NewNodeKind("PlainText")

func (*plainText) Kind() ast.NodeKind { return kindPlainText }
func (*plainText) IsRaw() bool        { return true }
func (*plainText) Dump([]byte, int)   {}

// inline limits the work for one kind of delimiter and notes where links end. For each delimiter goldmark may
// look at the whole paragraph.
type inline struct{ parser.InlineParser }

func (i inline) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	u := usageIn(parent, pc)
	lines := parent.Lines()
	length := lines.At(lines.Len()-1).Stop - lines.At(0).Start
	if u.work+length > maxWork || u.total+length > maxTotalWork {
		return nil
	}
	u.work += length
	u.total += length
	node := i.InlineParser.Parse(parent, block, pc)
	switch node.(type) {
	case *ast.Link, *ast.Image:
		_, at := block.Position()
		u.ends[node] = at.Start
	}
	return node
}

// CloseBlock is called at the end of each paragraph.
func (i inline) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := i.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// codeSpans parses code spans. goldmark would search the paragraph once for each run of backticks that
// nothing closes.
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

// definitions limits the paragraphs that are searched for link definitions: goldmark copies all lines for
// each definition.
type definitions struct{ parser.ParagraphTransformer }

func (d definitions) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	if node.Lines().Len() <= maxDefinitions {
		d.ParagraphTransformer.Transform(node, reader, pc)
	}
}
