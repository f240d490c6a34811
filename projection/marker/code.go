package marker

import (
	"iter"
	"strings"
)

// plain yields the position of every bracket that is not code, and of the line breaks
// between them. Code is what CommonMark says, of fenced blocks, also in lists, and of code
// spans, without its quotations.
func plain(text string) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		for start, end := range paragraphs(text) {
			if !plainIn(text, start, end, yield) {
				return
			}
		}
	}
}

// paragraphs yields the start and the end of every run of lines that are neither blank nor
// of a fenced block. No code span reaches from one to the next.
func paragraphs(text string) iter.Seq2[int, int] {
	return func(yield func(int, int) bool) {
		start := 0
		for at := 0; at < len(text); {
			next := lineEnd(text, at)
			f, opens := openingFence(text[at:next])
			if !opens && !blank(text[at:next]) {
				at = next
				continue
			}
			if start < at && !yield(start, at) {
				return
			}
			if opens {
				next = f.end(text, next)
			}
			start, at = next, next
		}
		if start < len(text) {
			yield(start, len(text))
		}
	}
}

// A fence is a line of n or more of the same character, around a block of code. In an item of
// a list it is indented as the item is, and ends with it.
type fence struct {
	char  byte
	n     int
	least int // columns that its lines are indented by, unless they are blank
	most  int // columns that its last line is indented by
}

const (
	minFence  = 3 // characters of the shortest fence
	maxIndent = 3 // columns that a fence is indented by at most where it stands
	tabStop   = 4
)

// openingFence reports whether the line begins a fenced block. How far the item of a list
// that it may stand in is indented, the lines before it would tell; all that is possible counts.
func openingFence(line string) (fence, bool) {
	at, column := skipBlanks(line, 0, 0)
	f := fence{least: max(0, column-maxIndent), most: max(maxIndent, column)}
	for n := listMarker(line[at:]); n > 0; n = listMarker(line[at:]) {
		at, column = skipBlanks(line, at+n, column+n)
		f.least, f.most = column, column+maxIndent
	}
	if at == len(line) {
		return f, false
	}
	f.char, f.n = line[at], runLength(line, at)
	if f.n < minFence {
		return f, false
	}
	return f, f.char == '~' || f.char == '`' && !strings.Contains(line[at+f.n:], "`")
}

// skipBlanks is where the first byte from line[at] on stands that is neither space nor tab,
// and in which column, when line[at] stands in that one.
func skipBlanks(line string, at, column int) (int, int) {
	for ; at < len(line); at++ {
		switch line[at] {
		case ' ':
			column++
		case '\t':
			column += tabStop - column%tabStop
		default:
			return at, column
		}
	}
	return at, column
}

// mostDigits is how many digits the number of a list's item has.
const mostDigits = 9

// listMarker is the length of what an item of a list begins with, without the blank behind it.
func listMarker(line string) int {
	n := 0
	for n < min(len(line), mostDigits) && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	marks := "-+*"
	if n > 0 {
		marks = ".)"
	}
	if n+1 < len(line) && strings.IndexByte(marks, line[n]) >= 0 && (line[n+1] == ' ' || line[n+1] == '\t') {
		return n + 1
	}
	return 0
}

// end is where the block that starts at text[at] ends: behind its closing fence, or where the
// item of the list ends that it is in. Else the block takes the rest of the text.
func (f fence) end(text string, at int) int {
	for at < len(text) {
		next := lineEnd(text, at)
		line := text[at:next]
		start, column := skipBlanks(line, 0, 0)
		switch {
		case blank(line):
		case column < f.least:
			return at
		case column <= f.most && f.closes(line[start:]):
			return next
		}
		at = next
	}
	return at
}

// closes reports whether the line is nothing but a fence that is as long.
func (f fence) closes(line string) bool {
	n := runLength(line, 0)
	return line[0] == f.char && n >= f.n && blank(line[n:])
}

// runLength is how often s[at] stands there in a row.
func runLength(s string, at int) int {
	n := 1
	for at+n < len(s) && s[at+n] == s[at] {
		n++
	}
	return n
}

// plainIn yields what plain does for text[start:end], which is one paragraph. It reports
// whether to go on.
func plainIn(text string, start, end int, yield func(int, byte) bool) bool {
	paragraph := text[start:end]
	closers := lastRuns(paragraph)
	for i := 0; i < len(paragraph); {
		switch c := paragraph[i]; c {
		case '`':
			next := skipSpan(paragraph, i, closers)
			for ; i < next; i++ {
				if paragraph[i] == '\n' && !yield(start+i, '\n') {
					return false
				}
			}
		case '\\':
			i += escaped(paragraph, i)
		case '[', ']', '\n':
			if !yield(start+i, c) {
				return false
			}
			i++
		default:
			i++
		}
	}
	return true
}

// escaped is how many bytes the backslash at s[i] takes: a backtick behind it opens no span.
func escaped(s string, i int) int {
	if i+1 < len(s) && (s[i+1] == '`' || s[i+1] == '\\') {
		return 2
	}
	return 1
}

// lastRuns is where the last run of backticks of each length starts. There are few lengths,
// since all runs have to fit. It is what keeps runs that nothing closes from being searched
// for to the end again and again.
func lastRuns(paragraph string) map[int]int {
	last := make(map[int]int)
	for i := nextBacktick(paragraph, 0); i < len(paragraph); {
		n := runLength(paragraph, i)
		last[n] = i
		i = nextBacktick(paragraph, i+n)
	}
	return last
}

// skipSpan is where the code span that opens at s[i] ends. When nothing closes it, that is
// the end of the run of backticks, which is text.
func skipSpan(s string, i int, last map[int]int) int {
	n := runLength(s, i)
	text := i + n
	if last[n] < text {
		return text
	}
	for i = nextBacktick(s, text); i < len(s); {
		length := runLength(s, i)
		if length == n {
			return i + n
		}
		i = nextBacktick(s, i+length)
	}
	return text
}

// nextBacktick is where the first backtick from s[i] on is; len(s) when there is none.
func nextBacktick(s string, i int) int {
	if n := strings.IndexByte(s[i:], '`'); n >= 0 {
		return i + n
	}
	return len(s)
}
