package preview

import (
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/clipperhouse/displaywidth"
)

// SetMatch sets what is marked: pattern returns the matches in a text, as regexp.Regexp.FindAllStringIndex does. nil
// marks nothing. A line break of the pane is a blank in the text, and the end of a paragraph a newline.
func (p *Pane) SetMatch(pattern func(text string) [][]int) { p.pattern, p.match = pattern, nil }

// NextMatch scrolls to the next match in what is loaded. It returns false if there is none.
func (p *Pane) NextMatch() (tea.Cmd, bool) {
	from := p.top
	if p.match != nil {
		from = p.document.row(*p.match) + 1
	}
	rows := p.matchingRows(from, p.document.rows())
	if len(rows) == 0 {
		return nil, false
	}
	p.jump(rows[0])
	return p.more(), true
}

// PreviousMatch scrolls to the match before in what is loaded. It returns false if there is none.
func (p *Pane) PreviousMatch() (tea.Cmd, bool) {
	to := p.top
	if p.match != nil {
		to = p.document.row(*p.match)
	}
	rows := p.matchingRows(0, to)
	if len(rows) == 0 {
		return nil, false
	}
	p.jump(rows[len(rows)-1])
	return p.more(), true
}

// jump scrolls to a row with a match.
func (p *Pane) jump(row int) {
	if s, ok := p.spot(row); ok {
		p.match = &s
	}
	p.scrollTo(row - p.height()/3)
}

// matchingRows returns the rows from one up to another in which a match begins.
func (p *Pane) matchingRows(from, to int) (rows []int) {
	for i, marks := range p.marks(from, to) {
		if slices.ContainsFunc(marks, func(m mark) bool { return m.begins }) {
			rows = append(rows, from+i)
		}
	}
	return rows
}

// A mark is a part of the text of a row that matches.
type mark struct {
	from, to int  // in bytes
	begins   bool // the match does not begin in an earlier row
}

// marks returns the marks of the rows from one up to another.
func (p *Pane) marks(from, to int) [][]mark {
	if p.pattern == nil || from >= to {
		return nil
	}
	t := joined(p.between(from, to))
	marks := make([][]mark, len(t.rows))
	for _, match := range p.pattern(t.text) {
		begin, end := match[0], match[1]
		i, exact := slices.BinarySearchFunc(t.rows, begin, func(r joinedRow, at int) int { return r.at - at })
		if !exact {
			i-- // it begins in the row before
		}
		for ; i >= 0 && i < len(t.rows) && t.rows[i].at < end; i++ {
			r := t.rows[i]
			m := mark{from: max(begin-r.at, 0) + r.indent, to: min(end-r.at, r.bytes) + r.indent, begins: begin >= r.at}
			if m.from < m.to {
				marks[i] = append(marks[i], m)
			}
		}
	}
	return marks
}

// joinedText is the text of rows.
type joinedText struct {
	text string
	rows []joinedRow
}

// joinedRow is where the text of a row is.
type joinedRow struct {
	at, bytes int
	indent    int // bytes of the row before them
}

// indentation is what precedes the text in the rows of a block after the first one.
const indentation = " │"

// joined joins the text of rows.
func joined(rows []placed) joinedText {
	var t joinedText
	var b strings.Builder
	for i, r := range rows {
		text := ""
		for _, span := range r.line {
			text += span.Text
		}
		indent := 0
		if i > 0 {
			separator := "\n"
			if last := rows[i-1]; last.part == r.part && last.block == r.block {
				indent = len(text) - len(strings.TrimLeft(text, indentation))
				separator = between(b.String(), text[indent:])
			}
			b.WriteString(separator)
		}
		t.rows = append(t.rows, joinedRow{b.Len(), len(text) - indent, indent})
		b.WriteString(text[indent:])
	}
	t.text = b.String()
	return t
}

// between returns what stood between two rows of a paragraph: nothing between wide characters, else a blank.
func between(before, after string) string {
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(after)
	if displaywidth.Rune(last) > 1 && displaywidth.Rune(first) > 1 {
		return ""
	}
	return " "
}

// marked returns a line with marks.
func marked(line ansi.Line, marks []mark) ansi.Line {
	if len(marks) == 0 {
		return line
	}
	var result ansi.Line
	at := 0
	for _, span := range line {
		for len(span.Text) > 0 {
			n, on := len(span.Text), false
			for _, m := range marks {
				switch {
				case at >= m.from && at < m.to:
					n, on = min(n, m.to-at), true
				case at < m.from:
					n = min(n, m.from-at)
				}
			}
			piece := span
			piece.Text, span.Text = span.Text[:n], span.Text[n:]
			piece.Reverse = piece.Reverse || on
			result = append(result, piece)
			at += n
		}
	}
	return result
}
