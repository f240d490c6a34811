package markdown

import (
	"strings"
	"unicode/utf8"
)

// OneLine returns the text of a message in one line without its Markdown: at most limit
// code points of it. White space between words is one blank. Images are their
// descriptions, and links their texts.
func OneLine(source string, limit int) string {
	l := oneLine{room: limit}
	l.blocks(Parse(source).Blocks)
	return strings.TrimRight(l.text.String(), " ")
}

// A oneLine collects words until it is full.
type oneLine struct {
	text  strings.Builder
	room  int  // for code points
	blank bool // precedes the next word
}

func (l *oneLine) blocks(blocks []Block) {
	for _, b := range blocks {
		if l.room <= 0 {
			return
		}
		l.blank = true
		l.add(b.Text)
		l.inlines(b.Inlines)
		for _, row := range b.Rows {
			for _, cell := range row {
				l.blank = true
				l.inlines(cell)
			}
		}
		l.blocks(b.Blocks)
	}
}

func (l *oneLine) inlines(inlines []Inline) {
	for _, in := range inlines {
		switch {
		case in.Kind == LineBreak:
			l.blank = true
		case in.Text != "":
			l.add(in.Text)
		case len(in.Inlines) > 0:
			l.inlines(in.Inlines)
		default: // a link without a text
			l.add(in.Destination)
		}
	}
}

// add adds text as far as there is room.
func (l *oneLine) add(text string) {
	for i, r := range text {
		switch {
		case l.room <= 0:
			return
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			l.blank = true
			continue
		case l.blank && l.text.Len() > 0:
			l.text.WriteByte(' ')
			l.room--
		}
		l.blank = false
		if l.room > 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			l.text.WriteString(text[i : i+size])
			l.room--
		}
	}
}
