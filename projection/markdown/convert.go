package markdown

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// A converter turns goldmark's tree into blocks.
type converter struct {
	source   string
	bytes    []byte // source
	usage    *usage
	lastLine int // where the text after the last line break starts
	code     []Range
	inTable  bool
}

// blocks converts the children of a node. The last one is open if the node is open and nothing closes the
// child; those before it may be open, too.
func (c *converter) blocks(parent ast.Node, open bool) []Block {
	first := parent.LastChild() // that may be open
	for first != nil && first.PreviousSibling() != nil && c.keepsOpen(first) {
		first = first.PreviousSibling()
	}
	blocks := make([]Block, 0, parent.ChildCount())
	last := false
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		last = last || node == first
		if b := c.block(node, open && last); b.Kind != "" {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// keepsOpen reports whether the block before an open block is open, too: with more text, an incomplete line
// that began the block may turn out to continue the one before, and a table and the lines of its paragraph
// before it can only be parsed together.
func (c *converter) keepsOpen(node ast.Node) bool {
	if t, ok := node.(*extension.Table); ok {
		switch before := t.PreviousSibling().(type) {
		case *ast.Paragraph, *ast.TextBlock:
			if c.lineEnd(c.linesEnd(before)) > t.Pos() {
				return !c.blankAt(c.tableEnd(t))
			}
		}
	}
	return node.Pos() >= c.lastLine
}

// block converts a node. Its kind is empty if the node is not shown, as link definitions are not.
func (c *converter) block(node ast.Node, open bool) Block {
	b := Block{Range: Range{Start: c.start(node)}, Open: open}
	switch n := node.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		b.Kind = Paragraph
		b.Inlines = c.inlines(n)
		b.End = c.linesEnd(n)
		b.Open = open && !c.blankAt(b.End)
	case *ast.Heading:
		b.Kind, b.Level = Heading, n.Level
		b.Inlines = c.inlines(n)
		b.End = c.linesEnd(n)
		if n.Lines().Len() > 0 && n.Lines().At(0).Start == b.Start { // it is underlined
			b.End = c.lineEnd(b.End)
		}
		b.Open = open && !c.complete(b.End)
	case *ast.ThematicBreak:
		b.Kind = ThematicBreak
		b.End = c.lineEnd(b.Start)
		b.Open = open && !c.complete(b.End)
	case *ast.CodeBlock:
		b.Kind = CodeBlock
		c.literal(&b, n)
		b.End = c.linesEnd(n)
		c.code = append(c.code, b.Range)
	case *ast.FencedCodeBlock:
		b.Kind = CodeBlock
		b.Fence = c.source[b.Start : b.Start+runLength(c.source, b.Start)]
		b.Language = unescaped(string(n.Language(c.bytes)))
		c.literal(&b, n)
		end, closed := c.usage.ends[n]
		b.End = max(end, c.linesEnd(n))
		b.Open = open && !(closed && c.complete(end))
		c.code = append(c.code, b.Range)
	case *ast.Blockquote:
		b.Kind = Quote
		c.children(&b, n)
		if open && c.blankAt(b.End) {
			closeAll(&b)
		}
	case *ast.List:
		b.Kind = List
		b.Ordered, b.Number, b.Tight = n.IsOrdered(), n.Start, n.IsTight
		c.children(&b, n)
	case *ast.ListItem:
		b.Kind = ListItem
		c.children(&b, n)
	case *extension.Table:
		c.table(&b, n)
		b.Open = open && !c.blankAt(b.End)
	case *plainText:
		b.Kind = Paragraph
		b.End = len(c.source)
		b.Inlines = []Inline{{Kind: Text, Range: b.Range, Text: c.source[b.Start:]}}
	}
	return b
}

// start returns where the markup or text of a block starts.
func (c *converter) start(node ast.Node) int {
	if start, ok := c.usage.starts[node]; ok {
		return start
	}
	return node.Pos()
}

// children converts the blocks of a container.
func (c *converter) children(b *Block, node ast.Node) {
	b.Blocks = c.blocks(node, b.Open)
	b.End = c.lineEnd(b.Start)
	if n := len(b.Blocks); n > 0 {
		b.End = max(b.End, b.Blocks[n-1].End)
	}
}

// closeAll closes a block and what is open in it: its last blocks.
func closeAll(b *Block) {
	b.Open = false
	for i := len(b.Blocks) - 1; i >= 0 && b.Blocks[i].Open; i-- {
		closeAll(&b.Blocks[i])
	}
}

func (c *converter) table(b *Block, n *extension.Table) {
	b.Kind = Table
	for _, align := range n.Alignments {
		b.Align = append(b.Align, alignments[align])
	}
	c.inTable = true
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		cells := make([]Cell, 0, row.ChildCount())
		for cell := row.FirstChild(); cell != nil; cell = cell.NextSibling() {
			cells = append(cells, c.inlines(cell))
		}
		b.Rows = append(b.Rows, cells)
	}
	c.inTable = false
	b.End = c.tableEnd(n)
}

// tableEnd returns where the last line of a table ends: its last row, or the delimiter row.
func (c *converter) tableEnd(n *extension.Table) int {
	end := c.lineEnd(n.LastChild().Pos())
	if n.ChildCount() == 1 {
		return c.lineEnd(end)
	}
	return end
}

var alignments = map[extension.Alignment]Alignment{
	extension.AlignLeft:   AlignLeft,
	extension.AlignCenter: AlignCenter,
	extension.AlignRight:  AlignRight,
}

// inlines converts the inline content of a node.
func (c *converter) inlines(parent ast.Node) []Inline {
	var inlines []Inline
	var b strings.Builder
	at := 0 // the end of the last inline
	text := Inline{Kind: Text}
	flush := func() {
		if b.Len() > 0 {
			text.Text = b.String()
			inlines = append(inlines, text)
			b.Reset()
		}
	}
	for node := parent.FirstChild(); node != nil; node = node.NextSibling() {
		n, ok := node.(*ast.Text)
		if !ok {
			flush()
			inlines = append(inlines, c.inline(node))
			at = inlines[len(inlines)-1].End
			continue
		}
		// goldmark gives what remains of closing delimiters the position of those that it took.
		start := max(at, n.Segment.Start)
		if b.Len() == 0 {
			text.Start = start
		}
		text.End = start + n.Segment.Stop - n.Segment.Start
		at = text.End
		b.WriteString(unescaped(c.source[n.Segment.Start:n.Segment.Stop]))
		switch {
		case n.HardLineBreak():
			flush()
			inlines = append(inlines, Inline{Kind: LineBreak, Range: Range{text.End, c.lineEnd(text.End)}})
		case n.SoftLineBreak():
			b.WriteByte('\n')
			text.End = c.lineEnd(text.End)
		}
	}
	flush()
	return inlines
}

// inline converts a node that is not text.
func (c *converter) inline(node ast.Node) Inline {
	i := Inline{Range: Range{Start: node.Pos()}}
	switch n := node.(type) {
	case *ast.CodeSpan:
		i.Kind = CodeSpan
		i.Text = c.span(n)
		// Before the closing backticks there may be a blank or the prefix of a line.
		at := n.LastChild().(*ast.Text).Segment.Stop
		i.End = at + strings.IndexByte(c.source[at:], '`') + runLength(c.source, n.Pos())
		c.code = append(c.code, i.Range)
	case *ast.AutoLink:
		i.Kind = Link
		i.Destination = string(n.URL(c.bytes))
		if n.AutoLinkType == ast.AutoLinkEmail {
			i.Destination = "mailto:" + i.Destination
		}
		label := Range{i.Start + 1, i.Start + 1 + len(n.Label(c.bytes))}
		i.Inlines = []Inline{{Kind: Text, Range: label, Text: c.source[label.Start:label.End]}}
		i.End = label.End + 1
	case *ast.Emphasis:
		i.Kind = Emphasis
		if n.Level == 2 {
			i.Kind = Strong
		}
		c.delimited(&i, n, n.Level)
	case *extension.Strikethrough:
		i.Kind = Strikethrough
		c.delimited(&i, n, tildes)
	case *ast.Link:
		c.link(&i, Link, n, n.Destination)
	case *ast.Image:
		c.link(&i, Image, n, n.Destination)
	}
	return i
}

// delimited converts what is between two delimiters of a length.
func (c *converter) delimited(i *Inline, node ast.Node, length int) {
	i.Inlines = c.inlines(node)
	if n := len(i.Inlines); n > 0 {
		i.Start, i.End = i.Inlines[0].Start-length, i.Inlines[n-1].End+length
	}
}

func (c *converter) link(i *Inline, kind InlineKind, node ast.Node, destination []byte) {
	i.Kind = kind
	i.Destination = unescaped(string(destination))
	i.Inlines = c.inlines(node)
	// goldmark may be at the beginning of the next line already.
	i.End = 1 + strings.LastIndexAny(c.source[:c.usage.ends[node]], ")]")
}

var lineBreaks = strings.NewReplacer("\r\n", " ", "\n", " ")

// span returns the text of a code span: line breaks are spaces, and in a table "\|" is a pipe.
func (c *converter) span(n *ast.CodeSpan) string {
	var b strings.Builder
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		segment := child.(*ast.Text).Segment
		b.Write(segment.Value(c.bytes))
	}
	s := lineBreaks.Replace(b.String())
	if c.inTable {
		s = strings.ReplaceAll(s, `\|`, "|")
	}
	return s
}

// literal sets the text of a code block and its lines.
func (c *converter) literal(b *Block, node ast.Node) {
	var text strings.Builder
	for _, line := range node.Lines().Sliced(0, node.Lines().Len()) {
		text.Write(line.Value(c.bytes))
		b.Lines = append(b.Lines, Range{line.Start, line.Stop})
	}
	b.Text = text.String()
}

const maxEntity = 40 // bytes of an entity, such as "&nbsp;"

// unescaped returns text without backslash escapes and entities.
func unescaped(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]):
			i++
			b.WriteByte(s[i])
		case s[i] == '&':
			n := 1 + strings.IndexByte(s[i:min(len(s), i+maxEntity)], ';')
			b.Write(util.ResolveEntityNames(util.ResolveNumericReferences([]byte(s[i : i+max(1, n)]))))
			i += max(0, n-1)
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// linesEnd returns where the last line of a block ends, or the line that the block starts on.
func (c *converter) linesEnd(node ast.Node) int {
	n := node.Lines().Len()
	if n == 0 {
		return c.lineEnd(c.start(node))
	}
	last := node.Lines().At(n - 1)
	if last.Start < last.Stop && c.complete(last.Stop) {
		return last.Stop
	}
	return c.lineEnd(last.Stop)
}

// lineEnd returns where the line of source[at] ends, line break included.
func (c *converter) lineEnd(at int) int {
	if n := strings.IndexByte(c.source[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(c.source)
}

// complete reports whether a line that ends at source[end] has a line break.
func (c *converter) complete(end int) bool {
	return end > 0 && c.source[end-1] == '\n'
}

// blankAt reports whether a blank line starts at source[at]. Its line break must be there: text before it
// could still come.
func (c *converter) blankAt(at int) bool {
	n := strings.IndexByte(c.source[at:], '\n')
	return n >= 0 && c.complete(at) && strings.TrimSpace(c.source[at:at+n]) == ""
}
