package markdown

// A Document is a parsed message.
type Document struct {
	Blocks []Block
	Code   []Range // code spans and code blocks with their delimiters, sorted and disjoint
}

// A Range is source[Start:End] in bytes.
type Range struct {
	Start, End int
}

// A BlockKind says which fields of a Block are set.
type BlockKind string

// The kinds of blocks.
const (
	Paragraph     BlockKind = "paragraph" // Inlines
	Heading       BlockKind = "heading"   // Level, Inlines
	CodeBlock     BlockKind = "code"      // Fence, Language, Text
	List          BlockKind = "list"      // Ordered, Number, Tight, Blocks: one ListItem for each item
	ListItem      BlockKind = "item"      // Blocks
	Quote         BlockKind = "quote"     // Blocks
	Table         BlockKind = "table"     // Align, Rows
	ThematicBreak BlockKind = "break"
)

// A Block is a paragraph, a heading, a code block, a list or one of its items, a quote, a table or a
// thematic break.
type Block struct {
	Kind BlockKind
	Range
	// The range is from the first byte of the block's own markup or text, after indentation and the
	// prefixes of containers, to the end of its last line, line break included.

	// Open reports that text appended to the source may change the block or add to it.
	Open bool

	Level int // 1 to 6

	Fence    string  // the opening fence, such as "```"; empty for indented code
	Language string  // the first word after the fence
	Text     string  // the literal code; every line ends in a line break
	Lines    []Range // of code, in the source

	Ordered bool
	Number  int  // of the first item of an ordered list
	Tight   bool // no blank lines between items

	Blocks  []Block
	Inlines []Inline

	Align []Alignment // one for each column
	Rows  [][]Cell    // the first is the header; other rows may have fewer or more cells
}

// A Cell is the content of one cell of a table.
type Cell []Inline

// An Alignment is how a column of a table is aligned. The zero value is unspecified.
type Alignment string

// The alignments.
const (
	AlignLeft   Alignment = "left"
	AlignCenter Alignment = "center"
	AlignRight  Alignment = "right"
)

// An InlineKind says which fields of an Inline are set.
type InlineKind string

// The kinds of inline content.
const (
	Text          InlineKind = "text"          // Text; "\n" is a line break of the source
	CodeSpan      InlineKind = "code"          // Text
	Emphasis      InlineKind = "emphasis"      // Inlines
	Strong        InlineKind = "strong"        // Inlines
	Strikethrough InlineKind = "strikethrough" // Inlines
	Link          InlineKind = "link"          // Destination, Inlines
	Image         InlineKind = "image"         // Destination, Inlines: the description
	LineBreak     InlineKind = "break"         // a hard line break
)

// An Inline is a part of a paragraph, a heading or a cell.
type Inline struct {
	Kind InlineKind
	Range

	Text        string
	Destination string // as written: not validated
	Inlines     []Inline
}
