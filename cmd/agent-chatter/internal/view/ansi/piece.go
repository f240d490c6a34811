package ansi

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// minText is how many columns a text has at least, however deep the containers are that it is in.
const minText = 12

var (
	dim     = Style{Dim: true}
	literal = Style{Color: Cyan}
)

// Piece lays out a piece of a message in lines of so many columns. code is the line of code that the piece is, with
// styles. Lines of code, and words of other text, may be longer, so that they can be copied whole.
func Piece(p markdown.Piece, code Line, columns int, profile Profile) []Line {
	box := boxOf(&p)
	first, rest := prefixes(p.Containers, box, columns)
	room := columns - rest.Columns()
	w := writer{profile: profile}
	var lines []Line
	switch p.Kind {
	case markdown.Heading:
		lines = Flow(w.heading(p.Block), room)
	case markdown.Paragraph:
		lines = Flow(w.inlines(p.Inlines, Style{}), room)
	case markdown.CodeBlock:
		lines = []Line{append(Line{{Text: codeIndent}}, code...)}
	case markdown.Table:
		lines = w.table(p.Block, room)
	case markdown.ThematicBreak:
		lines = []Line{{{Text: strings.Repeat("─", min(room, ruleColumns)), Style: dim}}}
	case markdown.ListItem:
		lines = []Line{nil}
	}
	for i, line := range lines {
		prefix := rest
		if i == 0 {
			prefix = first
		}
		lines[i] = append(prefix[:len(prefix):len(prefix)], line...)
	}
	if BlankInQuote(p) {
		lines = append([]Line{rest}, lines...)
	}
	return lines
}

// BlankInQuote reports whether a blank line precedes a piece within a quote. It is one of the lines of Piece.
func BlankInQuote(p markdown.Piece) bool {
	return p.Blank && len(p.Containers) > 0 && p.Containers[0].Kind == markdown.Quote && !p.Containers[0].First
}

const (
	codeIndent  = "  "
	ruleColumns = 24
)

// boxOf returns the box of a task, which is the marker of its list item, and removes it from the text of the piece; the
// zero Span if it is no task. It takes as many columns as another marker, so that a list stays aligned.
func boxOf(p *markdown.Piece) Span {
	last := len(p.Containers) - 1
	if p.Kind != markdown.Paragraph || last < 0 || len(p.Inlines) == 0 || p.Inlines[0].Kind != markdown.Text {
		return Span{}
	}
	if c := p.Containers[last]; c.Kind == markdown.Quote || c.Ordered || !c.First {
		return Span{}
	}
	for _, of := range []struct {
		source string
		box    Span
	}{
		{"[ ] ", Span{Text: "☐ "}},
		{"[x] ", Span{Text: "☑ ", Style: Style{Color: Green}}}, {"[X] ", Span{Text: "☑ ", Style: Style{Color: Green}}},
	} {
		if text, ok := strings.CutPrefix(p.Inlines[0].Text, of.source); ok && (text != "" || len(p.Inlines) > 1) {
			p.Inlines = slices.Clone(p.Inlines)
			p.Inlines[0].Text = text
			return of.box
		}
	}
	return Span{}
}

// prefixes returns what precedes the first line of a piece and the others: the bars of quotes, the markers of list
// items and blanks. Containers that leave too little room have no prefix. A box is the marker of the last container.
func prefixes(containers []markdown.Container, box Span, columns int) (first, rest Line) {
	n := 0
	for i, c := range containers {
		var marker Span
		blank := Span{}
		switch {
		case c.Kind == markdown.Quote:
			marker = Span{Text: "│ ", Style: dim}
			blank = marker
		case box.Text != "" && i == len(containers)-1:
			marker = box
		case c.Ordered:
			marker = Span{Text: fmt.Sprintf("%d. ", c.Number), Style: dim}
		default:
			marker = Span{Text: "• ", Style: dim}
		}
		width := Line{marker}.Columns()
		if n += width; n+minText > columns {
			break
		}
		if blank.Text == "" {
			blank.Text = strings.Repeat(" ", width)
		}
		if !c.First {
			marker = blank
		}
		first, rest = append(first, marker), append(rest, blank)
	}
	return first, rest
}

// A writer turns Markdown into spans. Without colours it keeps those marks of Markdown that carry meaning.
type writer struct{ profile Profile }

func (w writer) heading(b markdown.Block) Line {
	style := Style{Bold: true, Underline: b.Level == 1, Dim: b.Level > 3}
	line := w.inlines(b.Inlines, style)
	if w.profile == NoColor {
		line = append(Line{{Text: strings.Repeat("#", b.Level) + " "}}, line...)
	}
	return line
}

// inlines returns inline content as spans.
func (w writer) inlines(inlines []markdown.Inline, style Style) Line {
	var line Line
	for _, in := range inlines {
		nested := style
		switch in.Kind {
		case markdown.Text:
			line = append(line, Span{Text: in.Text, Style: style})
		case markdown.LineBreak:
			line = append(line, Span{Text: "\n", Style: style})
		case markdown.CodeSpan:
			nested.Color = literal.Color
			text := in.Text
			if w.profile == NoColor {
				text = "`" + text + "`"
			}
			line = append(line, Span{Text: text, Style: nested})
		case markdown.Emphasis:
			nested.Italic = true
			line = append(line, w.inlines(in.Inlines, nested)...)
		case markdown.Strong:
			nested.Bold = true
			line = append(line, w.inlines(in.Inlines, nested)...)
		case markdown.Strikethrough:
			nested.Strike = true
			mark := Line{}
			if w.profile == NoColor {
				mark = Line{{Text: "~~", Style: style}}
			}
			line = append(line, slices.Concat(mark, w.inlines(in.Inlines, nested), mark)...)
		case markdown.Link, markdown.Image:
			line = append(line, w.link(in, style)...)
		}
	}
	return line
}

// link returns the text of a link, followed by its address if it differs: terminals differ in whether they show where a
// link leads, and the text may be another address.
func (w writer) link(in markdown.Inline, style Style) Line {
	nested := style
	nested.Underline = true
	address := ""
	if w.profile != NoColor {
		address = SafeLink(in.Destination)
	}
	line := w.inlines(in.Inlines, nested)
	text := ""
	for i := range line {
		line[i].Link = address
		text += line[i].Text
	}
	if text == "" {
		line, text = append(line, Span{Text: in.Destination, Style: nested, Link: address}), in.Destination
	}
	if text != in.Destination && "mailto:"+text != in.Destination {
		style.Dim = true
		line = append(line, Span{Text: " (" + in.Destination + ")", Style: style})
	}
	return line
}
