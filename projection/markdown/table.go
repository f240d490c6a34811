package markdown

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	table "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// tables turns paragraphs into tables. Unlike goldmark's extension it adds no cells to short rows, which
// would cost the square of the text, drops none of long ones, and costs nothing when the program starts.
type tables struct{}

// Transform replaces a paragraph that has a delimiter row by the table that the row belongs to. The lines
// before its header stay a paragraph.
func (tables) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	lines, source := node.Lines(), reader.Source()
	for i := 1; i < lines.Len(); i++ {
		align := delimiterRow(lines.At(i), source)
		if align == nil {
			continue
		}
		header := cells(lines.At(i-1), source)
		if len(header) != len(align) {
			continue
		}
		rows := lines.Sliced(i+1, lines.Len())
		u := usageOf(pc)
		u.blocks += len(header)
		for _, row := range rows {
			u.blocks += bytes.Count(source[row.Start:row.Stop], []byte("|")) + 1
		}
		if u.exceeded() {
			return
		}
		t := table.NewTable()
		t.Alignments = align
		top := lines.At(i - 1)
		top = top.TrimLeftSpace(source)
		t.SetPos(top.Start)
		t.AppendChild(t, newRow(top, header))
		for _, row := range rows {
			t.AppendChild(t, newRow(row, cells(row, source)))
		}
		parent := node.Parent()
		if i > 1 {
			parent.InsertBefore(parent, node, head(node, i-1, source))
		}
		parent.ReplaceChild(parent, node, t)
		return
	}
}

// head returns a paragraph of the first n lines of another.
func head(node *ast.Paragraph, n int, source []byte) *ast.Paragraph {
	p := ast.NewParagraph()
	p.SetBlankPreviousLines(node.HasBlankPreviousLines())
	for _, line := range node.Lines().Sliced(0, n) {
		p.Lines().Append(line.TrimLeftSpace(source))
	}
	last := p.Lines().At(n - 1)
	p.Lines().Set(n-1, last.TrimRightSpace(source))
	return p
}

// delimiterRow returns the alignments that a line like "|:--|---|" sets; nil if it is none.
func delimiterRow(line text.Segment, source []byte) []table.Alignment {
	if width, _ := util.IndentWidth(line.Value(source), 0); width > 3 {
		return nil
	}
	var align []table.Alignment
	for _, cell := range cells(line, source) {
		value := source[cell.Start:cell.Stop]
		left, right := bytes.HasPrefix(value, []byte(":")), bytes.HasSuffix(value, []byte(":"))
		dashes := bytes.TrimSuffix(bytes.TrimPrefix(value, []byte(":")), []byte(":"))
		if len(dashes) == 0 || len(bytes.Trim(dashes, "-")) > 0 {
			return nil
		}
		switch {
		case left && right:
			align = append(align, table.AlignCenter)
		case left:
			align = append(align, table.AlignLeft)
		case right:
			align = append(align, table.AlignRight)
		default:
			align = append(align, table.AlignNone)
		}
	}
	return align
}

// cells splits a row at the pipes that no backslash escapes.
func cells(row text.Segment, source []byte) []text.Segment {
	row = row.TrimLeftSpace(source)
	row = row.TrimRightSpace(source)
	start := row.Start
	if start < row.Stop && source[start] == '|' {
		start++
	}
	var found []text.Segment
	for i := start; i < row.Stop; i++ {
		if source[i] == '|' && source[i-1] != '\\' {
			found = append(found, text.NewSegment(start, i))
			start = i + 1
		}
	}
	if start < row.Stop {
		found = append(found, text.NewSegment(start, row.Stop))
	}
	for i, cell := range found {
		cell = cell.TrimLeftSpace(source)
		found[i] = cell.TrimRightSpace(source)
	}
	return found
}

func newRow(line text.Segment, cells []text.Segment) *table.TableRow {
	row := table.NewTableRow(nil)
	row.SetPos(line.Start)
	for _, cell := range cells {
		c := table.NewTableCell()
		c.Lines().Append(cell)
		row.AppendChild(row, c)
	}
	return row
}
