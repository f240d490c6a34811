// Package wrap breaks the lines of text for a terminal between words.
package wrap

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/clipperhouse/displaywidth"
)

// A Wrapper breaks the lines of a streamed message between words. The terminal breaks code and tables, so that
// they can be copied without added line breaks, and words that are longer than a line. The zero value breaks
// nothing.
type Wrapper struct {
	Width  func() int // of the terminal; nil: nothing is broken
	column int        // of the cursor
	word   word       // at the end of the line
	head   []byte     // the beginning of the line as it was received
	fence  string     // the line that opened the fenced code block that the line is in; "" outside
}

// A word is the text after the last blank of a line. Only one that may still move to the next line keeps its
// text, so that a long word costs no more than its length.
type word struct {
	text    []byte
	columns int  // as put counts them: a variation selector that would widen a rune arrives after it
	fixed   bool // it fills the line from its start, or is longer than wordKept: it stays there
}

// wordKept is how many bytes of a word are kept. Only combining characters make a word of so many bytes that
// fits on a line.
const wordKept = 4 << 10

func (w *word) add(r rune, columns int) {
	w.columns += columns
	if w.fixed = w.fixed || len(w.text) > wordKept; w.fixed {
		w.text = w.text[:0]
		return
	}
	w.text = utf8.AppendRune(w.text, r)
}

func (w *word) clear() { *w = word{text: w.text[:0]} }

// tabStop is the distance of the terminal's tab stops in columns.
const tabStop = 8

// Begin begins a message on a line that already shows the text before.
func (w *Wrapper) Begin(before string) {
	*w = Wrapper{Width: w.Width, column: displaywidth.String(before)}
}

// Pass returns the next piece of the message with line breaks. If a word does not fit on the line and its
// beginning was in an earlier piece, the result erases that and starts the word on the next line.
func (w *Wrapper) Pass(piece string) string {
	if w.Width == nil {
		return piece
	}
	// The last column stays empty: after it is filled, terminals differ in where the cursor is.
	limit := w.Width() - 1
	if limit < tty.LeastShown {
		return piece
	}
	var b bytes.Buffer
	for _, r := range piece {
		w.put(&b, r, limit)
	}
	return b.String()
}

// Fold breaks the lines of a whole text between words, for a terminal of so many columns; 0 breaks nothing.
func Fold(text string, columns int) string {
	return (&Wrapper{Width: func() int { return columns }}).Pass(text)
}

func (w *Wrapper) put(b *bytes.Buffer, r rune, limit int) {
	if r == '\n' {
		w.endLine()
		b.WriteRune(r)
		return
	}
	if len(w.head) < headKept {
		w.head = utf8.AppendRune(w.head, r)
	}
	head := string(w.head[:min(len(w.head), len("    "))])
	n := displaywidth.Rune(r)
	switch {
	case w.fence != "", head == "    ", strings.HasPrefix(head, "\t"), strings.HasPrefix(head, "|"):
		// Code blocks and tables are not wrapped.
	case r == ' ' && w.column%(limit+1) == limit:
		w.column = 0
		w.word.clear()
		b.WriteByte('\n')
		return
	case r == ' ':
		w.column = (w.column + 1) % (limit + 1)
		w.word.clear()
	case r == '\t': // to the next stop, or to the edge
		column := w.column % (limit + 1)
		w.column = min(column+tabStop-column%tabStop, limit)
		w.word.clear()
	case n > 1: // East Asian text breaks between any two characters
		if w.column+n > limit {
			w.column = 0
			b.WriteByte('\n')
		}
		w.column += n
		w.word.clear()
	default:
		if w.column+n > limit && !w.word.fixed {
			w.moveWord(b)
		}
		w.column += n
		w.word.add(r, n)
	}
	b.WriteRune(r)
}

// moveWord moves the word at the end of the line to the next line, unless the line holds nothing else.
func (w *Wrapper) moveWord(b *bytes.Buffer) {
	switch {
	case w.word.columns == w.column:
		w.word.fixed = true
		return
	case bytes.HasSuffix(b.Bytes(), w.word.text): // not printed yet
		b.Truncate(b.Len() - len(w.word.text))
	default:
		fmt.Fprintf(b, "\x1b[%dD\x1b[K", w.word.columns)
	}
	b.WriteByte('\n')
	b.Write(w.word.text)
	w.column = w.word.columns
}

// headKept is how many bytes of a line are kept, which is enough for the info string of a fence.
const headKept = 1 << 10

// endLine begins the next line. A line that begins like a fence is parsed after the opening fence, if there is
// one, to see whether the end of it is in code.
func (w *Wrapper) endLine() {
	head := strings.TrimLeft(string(w.head), " ")
	if strings.HasPrefix(head, "```") || strings.HasPrefix(head, "~~~") {
		blocks := markdown.Parse(w.fence + string(w.head) + "\n").Blocks
		if last := blocks[len(blocks)-1]; last.Fence == "" || !last.Open {
			w.fence = ""
		} else if w.fence == "" {
			w.fence = string(w.head) + "\n"
		}
	}
	w.column, w.head = 0, w.head[:0]
	w.word.clear()
}
