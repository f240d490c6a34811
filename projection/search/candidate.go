package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// candidate is a literal that a line must contain to be worth decoding. The
// zero candidate finds every line.
type candidate struct {
	literal []byte // printable ASCII that JSON writers do not escape; lower case when fold is set
	fold    bool
	rare    int    // the offset in literal of the byte that is the rarest in texts
	wide    []byte // where there is no literal: other text, which some writers escape and some do not
}

// candidateOf chooses from a text that matches contain the longest part that
// every JSON writer spells as it is. Some escape slashes and what HTML has a
// meaning for, and all but ASCII.
func candidateOf(text string, fold bool) candidate {
	var longest, run []byte
	for i := range len(text) {
		if !plain(text[i]) {
			run = nil
			continue
		}
		if run = append(run, text[i]); len(run) > len(longest) {
			longest = run
		}
	}
	if len(longest) == 0 && (!fold || strings.ToUpper(text) == text) {
		return candidate{wide: []byte(widest(text))}
	}
	c := candidate{literal: bytes.Clone(longest), fold: fold}
	if fold {
		c.literal = bytes.ToLower(c.literal)
	}
	for i, b := range c.literal {
		if rarity(b) < rarity(c.literal[c.rare]) {
			c.rare = i
		}
	}
	return c
}

// widest is the longest part of a text beyond ASCII.
func widest(text string) (longest string) {
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r < utf8.RuneSelf || r == utf8.RuneError }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

func plain(b byte) bool {
	switch b {
	case '"', '\\', '/', '<', '>', '&', '\'', '+', '=', '`':
		return false
	}
	return ' ' <= b && b < utf8.RuneSelf-1
}

// byFrequency are bytes from the most to the least frequent of English texts,
// source code and JSON. A wrong guess costs time only.
const byFrequency = ` etaoinsrldhcumpfgy":,wb-.vk_01x2(){}[]j3q45z6789`

// rarity is small for a byte that is rare.
func rarity(b byte) int {
	i := bytes.IndexByte([]byte(byFrequency), b)
	if i < 0 {
		return 0
	}
	return len(byFrequency) - i
}

// index is where the candidate is found first, or -1.
func (c candidate) index(lines []byte) int {
	switch {
	case len(c.wide) > 0:
		return first(bytes.Index(lines, c.wide), bytes.Index(lines, []byte(`\u`)))
	case len(c.literal) == 0:
		return 0
	case !c.fold:
		return bytes.Index(lines, c.literal)
	}
	return c.indexFolded(lines)
}

// first is the smaller of two offsets, of which -1 is none.
func first(a, b int) int {
	if a < 0 || b >= 0 && b < a {
		return b
	}
	return a
}

// indexFolded goes from one of the rarest bytes to the next.
func (c candidate) indexFolded(lines []byte) int {
	low := c.literal[c.rare]
	up := low
	if 'a' <= low && low <= 'z' {
		up -= 'a' - 'A'
	}
	lowAt, upAt := next(lines, 0, low), next(lines, 0, up)
	for {
		at := min(lowAt, upAt)
		if at == len(lines) {
			return -1
		}
		start := at - c.rare
		if start >= 0 && start+len(c.literal) <= len(lines) && sameFolded(lines[start:], c.literal) {
			return start
		}
		if at == lowAt {
			lowAt = next(lines, at+1, low)
		}
		if at == upAt {
			upAt = next(lines, at+1, up)
		}
	}
}

// next is the offset of a byte at or behind another offset, or the length.
func next(lines []byte, from int, b byte) int {
	if i := bytes.IndexByte(lines[from:], b); i >= 0 {
		return from + i
	}
	return len(lines)
}

// sameFolded reports whether a text begins with a lower-case literal.
func sameFolded(text, literal []byte) bool {
	for i, want := range literal {
		b := text[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != want {
			return false
		}
	}
	return true
}

// literal is the longest text that every match of a regular expression
// contains, as far as that is plain to see; "" when it is not.
func literal(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return ""
	}
	return longestLiteral(re.Simplify())
}

func longestLiteral(re *syntax.Regexp) (longest string) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 { // "(?i)" somewhere inside
			return ""
		}
		return string(re.Rune)
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range re.Sub {
			if s := longestLiteral(sub); len(s) > len(longest) {
				longest = s
			}
		}
	}
	return longest
}
