package coordinator

import (
	"iter"
	"strings"
)

// plain yields the position of every bracket that is not code, and of the line breaks
// between them. Code is what CommonMark says, of fenced blocks and of code spans, without
// its lists and quotations.
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

// A fence is a line of n or more of the same character, around a block of code.
type fence struct {
	char byte
	n    int
}

// minFence is how long the shortest fence is.
const minFence = 3

// openingFence reports whether the line begins a fenced block.
func openingFence(line string) (fence, bool) {
	f, info := leadingRun(line)
	switch {
	case f.n < minFence:
		return f, false
	case f.char == '`':
		return f, !strings.Contains(info, "`")
	}
	return f, f.char == '~'
}

// end is where the block that starts at text[at] ends, behind its closing fence. Without
// one the block takes the rest of the text.
func (f fence) end(text string, at int) int {
	for at < len(text) {
		next := lineEnd(text, at)
		closing, rest := leadingRun(text[at:next])
		if closing.char == f.char && closing.n >= f.n && blank(rest) {
			return next
		}
		at = next
	}
	return at
}

// leadingRun splits off what the line begins with, after an indentation of at most three
// spaces: the same character n times.
func leadingRun(line string) (run fence, rest string) {
	for range 3 {
		line = strings.TrimPrefix(line, " ")
	}
	if line == "" {
		return fence{}, ""
	}
	n := runLength(line, 0)
	return fence{char: line[0], n: n}, line[n:]
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
