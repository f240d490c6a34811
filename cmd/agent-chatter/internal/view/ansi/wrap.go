package ansi

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/clipperhouse/displaywidth"
)

// The bounds of what takes no column. The rest is replaced by U+FFFD.
const (
	maxCharacter = 64 // bytes of a character with its combining marks
	maxInvisible = 4  // invisible characters in a row
)

// tabStop is the distance of tab stops in columns.
const tabStop = 4

// A characters iterates over the characters of a text as a person sees them.
type characters struct {
	graphemes displaywidth.Graphemes[string]
	invisible int
}

func charactersOf(text string) characters {
	return characters{graphemes: displaywidth.StringGraphemes(tty.Safe(text))}
}

// next returns the next character and its columns; "" at the end.
func (c *characters) next() (string, int) {
	for c.graphemes.Next() {
		text, columns := c.graphemes.Value(), c.graphemes.Width()
		if text == "\n" || text == "\t" {
			c.invisible = 0
			return text, 0
		}
		if len(text) > maxCharacter {
			text, columns = runecut.Prefix(text, maxCharacter)+"\uFFFD", columns+1
		}
		if columns > 0 {
			c.invisible = 0
			return text, columns
		}
		switch c.invisible++; {
		case c.invisible == maxInvisible:
			return "\uFFFD", 1
		case c.invisible < maxInvisible:
			return text, 0
		}
	}
	return "", 0
}

// Columns returns how many columns a line takes.
func (l Line) Columns() int {
	n := 0
	for _, span := range l {
		chars := charactersOf(span.Text)
		for text, columns := chars.next(); text != ""; text, columns = chars.next() {
			n += columns
		}
	}
	return n
}

// add adds text to a line.
func (l Line) add(text string, of Span) Line {
	if n := len(l); n > 0 && l[n-1].Style == of.Style && l[n-1].Link == of.Link {
		l[n-1].Text += text
		return l
	}
	of.Text = text
	return append(l, of)
}

// Cut returns a line of at most so many columns, with an ellipsis if something is missing. Newlines and tabs are
// blanks.
func Cut(line Line, columns int) Line {
	if cut, complete := line.prefix(columns); complete {
		return cut
	}
	cut, _ := line.prefix(columns - 1)
	return append(cut, Span{Text: "…"})
}

// prefix returns the first columns of a line, and whether that is all of it.
func (l Line) prefix(columns int) (cut Line, complete bool) {
	n := 0
	for _, span := range l {
		chars := charactersOf(span.Text)
		for text, width := chars.next(); text != ""; text, width = chars.next() {
			if text == "\n" || text == "\t" {
				text, width = " ", 1
			}
			if n += width; n > columns {
				return cut, false
			}
			cut = cut.add(text, span)
		}
	}
	return cut, true
}

// ExpandTabs replaces the tabs of a line of code by blanks.
func ExpandTabs(line string) string {
	if !strings.ContainsRune(line, '\t') {
		return line
	}
	var b strings.Builder
	column := 0
	for i, part := range strings.Split(line, "\t") {
		if i > 0 {
			n := tabStop - column%tabStop
			b.WriteString(strings.Repeat(" ", n))
			column += n
		}
		b.WriteString(part)
		column += displaywidth.String(part)
	}
	return b.String()
}

// A wrapper divides text into lines. A word is what stays together: the text between blanks, or one wide character
// with the punctuation that cannot begin a line.
type wrapper struct {
	width  int
	whole  int // columns of the longest word that is wider than a line and not divided
	lines  []Line
	line   Line
	column int

	blanks      Line // between line and word
	blankColumn int
	word        Line   // without the text of its last span
	text        []byte // of that span
	wordColumns int
	wide        bool // word is a wide character
	divided     bool // word, and what follows up to a blank, is divided
}

// Wrap divides spans into lines of at most so many columns. It breaks them at newlines, between words, between wide
// characters, and in words that are longer than a line.
func Wrap(spans Line, columns int) []Line { return wrap(spans, columns, 0) }

// maxWhole is the width of the longest word that Flow does not divide: about that of the longest address.
const maxWhole = maxLink

// Flow is Wrap, but a word that is longer than a line stays whole on a line of its own, unless it is unusually long.
// The terminal breaks it, so that it can be copied and opened.
func Flow(spans Line, columns int) []Line { return wrap(spans, columns, maxWhole) }

func wrap(spans Line, columns, whole int) []Line {
	w := wrapper{width: max(columns, 2)}
	w.whole = max(whole, w.width)
	w.write(spans)
	w.endWord()
	if len(w.line) > 0 || len(w.lines) == 0 {
		w.endLine()
	}
	return w.lines
}

func (w *wrapper) write(spans Line) {
	for _, span := range spans {
		chars := charactersOf(span.Text)
		for text, n := chars.next(); text != ""; text, n = chars.next() {
			w.put(text, n, span)
		}
	}
}

// noStart are the wide characters that do not begin a line.
const noStart = "、。，．：；！？）］｝〉》」』】〕ー々"

func (w *wrapper) put(text string, columns int, of Span) {
	switch {
	case text == "\n":
		w.endWord()
		w.endLine()
		w.divided = false
	case text == "\t":
		w.endWord()
		n := tabStop - (w.column+w.blankColumn)%tabStop
		w.blanks, w.blankColumn = w.blanks.add(strings.Repeat(" ", n), of), w.blankColumn+n
		w.divided = false
	case text == " ":
		w.endWord()
		w.blanks, w.blankColumn = w.blanks.add(text, of), w.blankColumn+1
		w.divided = false
	default:
		r, _ := utf8.DecodeRuneInString(text)
		if wide := columns > 1; wide && !strings.ContainsRune(noStart, r) || !wide && w.wide && columns > 0 {
			w.endWord()
			w.divided = false
		}
		if w.wordColumns+columns > w.whole && !w.divided {
			w.divide()
		}
		if w.wordColumns+columns > w.width && w.divided {
			w.endWord()
			w.endLine()
		}
		if n := len(w.word); n == 0 || w.word[n-1].Style != of.Style || w.word[n-1].Link != of.Link {
			w.takeText()
			w.word = append(w.word, Span{Style: of.Style, Link: of.Link})
		}
		w.text, w.wordColumns = append(w.text, text...), w.wordColumns+columns
		w.wide = columns > 1 || w.wide && columns == 0
	}
}

// takeText completes the last span of the word.
func (w *wrapper) takeText() {
	if n := len(w.word); n > 0 {
		w.word[n-1].Text, w.text = string(w.text), w.text[:0]
	}
}

// divide divides the word, and what follows up to a blank.
func (w *wrapper) divide() {
	w.takeText()
	word := w.word
	w.word, w.wordColumns, w.divided = nil, 0, true
	w.write(word)
}

// endWord moves the word to the line, or to the next one if it does not fit.
func (w *wrapper) endWord() {
	if len(w.word) == 0 {
		return
	}
	w.takeText()
	if w.column > 0 && w.column+w.blankColumn+w.wordColumns > w.width {
		w.endLine()
	}
	if w.blankColumn+w.wordColumns <= w.width {
		for _, blank := range w.blanks {
			w.line = w.line.add(blank.Text, blank)
		}
		w.column += w.blankColumn
	}
	for _, part := range w.word {
		w.line = w.line.add(part.Text, part)
	}
	w.column += w.wordColumns
	w.blanks, w.blankColumn = nil, 0
	w.word, w.wordColumns, w.wide = nil, 0, false
}

// endLine ends the line, without the blanks at its end.
func (w *wrapper) endLine() {
	w.lines = append(w.lines, w.line)
	w.line, w.column = nil, 0
	w.blanks, w.blankColumn = nil, 0
}
