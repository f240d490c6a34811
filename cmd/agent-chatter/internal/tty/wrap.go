package tty

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/clipperhouse/displaywidth"
)

// wrapped breaks the lines of a message between words, where a terminal would
// break them within one. What is code is left to the terminal, so that it can be
// copied as it is, and so are words that are longer than a line.
type Wrapper struct {
	Width  func() int // of the terminal; nil: nothing is broken
	column int        // behind what stands on the line
	word   string     // that the line ends with
	head   []byte     // the beginning of the line as it was received
	fence  string     // the line that opened the fenced code block that the line is in; "" outside
}

// tabStop is how many columns a terminal has from one stop to the next.
const tabStop = 8

// begin prepares for a message whose first line has something before it already.
func (w *Wrapper) Begin(before string) {
	*w = Wrapper{Width: w.Width, column: displaywidth.String(before)}
}

// pass is the next piece of the message, as it is to be printed. A word of which
// the last piece had the beginning may be taken back, and stand on the next line.
func (w *Wrapper) Pass(piece string) string {
	if w.Width == nil {
		return piece
	}
	// A terminal that is full to its last column does not say where its cursor is.
	limit := w.Width() - 1
	if limit < LeastShown {
		return piece
	}
	var b bytes.Buffer
	for _, r := range piece {
		w.put(&b, r, limit)
	}
	return b.String()
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
	n := displaywidth.Rune(r)
	switch {
	case w.isCode():
	case r == ' ' && w.column%(limit+1) == limit:
		w.column, w.word = 0, ""
		b.WriteByte('\n')
		return
	case r == ' ':
		w.column, w.word = (w.column+1)%(limit+1), ""
	case r == '\t': // to the next stop, or to the edge
		column := w.column % (limit + 1)
		w.column, w.word = min(column+tabStop-column%tabStop, limit), ""
	case n > 1: // East Asian text breaks between any two letters
		if w.column+n > limit {
			w.column = 0
			b.WriteByte('\n')
		}
		w.column, w.word = w.column+n, ""
	default:
		if w.column+n > limit {
			w.takeBack(b)
		}
		w.column, w.word = w.column+n, w.word+string(r)
	}
	b.WriteRune(r)
}

// takeBack moves the word at the end of the line to the next one, unless it is
// all that stands there.
func (w *Wrapper) takeBack(b *bytes.Buffer) {
	columns := lettersWidth(w.word)
	switch {
	case columns == w.column:
		return
	case bytes.HasSuffix(b.Bytes(), []byte(w.word)): // it is not printed yet
		b.Truncate(b.Len() - len(w.word))
	default:
		fmt.Fprintf(b, "\x1b[%dD\x1b[K", columns)
	}
	b.WriteString("\n" + w.word)
	w.column = columns
}

// lettersWidth is how many columns the letters of a text take, one by one, as put
// counts them: a mark that widens the letter before it is not known yet when that
// is printed.
func lettersWidth(text string) (columns int) {
	for _, r := range text {
		columns += displaywidth.Rune(r)
	}
	return columns
}

// headKept is how many bytes of a line are kept, which is enough for the info string of a fence.
const headKept = 1 << 10

// isCode reports whether the line so far is part of a code block or a table.
func (w *Wrapper) isCode() bool {
	head := string(w.head[:min(len(w.head), len("    "))])
	return w.fence != "" || head == "    " || strings.HasPrefix(head, "\t") || strings.HasPrefix(head, "|")
}

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
	w.column, w.word, w.head = 0, "", w.head[:0]
}
