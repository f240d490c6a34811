package search

import (
	"bytes"
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// prefilter is a text that a line must contain to be worth decoding. The zero
// prefilter passes every line.
type prefilter struct {
	literal []byte // printable ASCII that JSON does not escape; lower case if fold is set
	fold    bool   // letters match in any case
	rare    int    // offset in literal of its least frequent byte
	wide    []byte // if there is no literal: text beyond ASCII that has one form, which JSON writers may escape
}

// newPrefilter chooses the longest part of a text that every JSON writer spells
// the same. Some writers escape slashes, the characters with a meaning in HTML,
// and everything beyond ASCII.
func newPrefilter(text string, fold bool) prefilter {
	var longest, run []byte
	for i := range len(text) {
		if b := text[i]; b < ' ' || b >= utf8.RuneSelf-1 || strings.IndexByte("\"\\/<>&'+=`", b) >= 0 {
			run = nil
			continue
		}
		if run = append(run, text[i]); len(run) > len(longest) {
			longest = run
		}
	}
	if len(longest) == 0 && (!fold || strings.ToUpper(text) == text) && norm.NFD.String(text) == text {
		return prefilter{wide: []byte(longestWide(text))}
	}
	p := prefilter{literal: bytes.Clone(longest), fold: fold}
	if fold {
		p.literal = bytes.ToLower(p.literal)
	}
	for i, b := range p.literal {
		if frequency(b) < frequency(p.literal[p.rare]) {
			p.rare = i
		}
	}
	return p
}

// longestWide returns the longest part of a text beyond ASCII.
func longestWide(text string) (longest string) {
	ascii := func(r rune) bool { return r < utf8.RuneSelf || r == utf8.RuneError }
	for _, run := range strings.FieldsFunc(text, ascii) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

// byFrequency are bytes of English text, source code and JSON, the most
// frequent first. It affects speed only.
const byFrequency = ` etaoinsrldhcumpfgy":,wb-.vk_01x2(){}[]j3q45z6789`

// frequency returns a number that is greater for a more frequent byte.
func frequency(b byte) int {
	i := bytes.IndexByte([]byte(byFrequency), b)
	if i < 0 {
		return 0
	}
	return len(byFrequency) - i
}

// index returns the offset of the first place that may match, or -1.
func (p prefilter) index(lines []byte) int {
	switch {
	case len(p.wide) > 0:
		plain, escaped := bytes.Index(lines, p.wide), bytes.Index(lines, []byte(`\u`))
		if plain < 0 || escaped >= 0 && escaped < plain {
			return escaped
		}
		return plain
	case len(p.literal) == 0:
		return 0
	case !p.fold:
		return bytes.Index(lines, p.literal)
	}
	return p.indexFolded(lines)
}

// indexFolded looks at each place that has the least frequent byte.
func (p prefilter) indexFolded(lines []byte) int {
	lower := p.literal[p.rare]
	upper := lower
	if 'a' <= lower && lower <= 'z' {
		upper -= 'a' - 'A'
	}
	lowerAt, upperAt := indexFrom(lines, 0, lower), indexFrom(lines, 0, upper)
	for {
		at := min(lowerAt, upperAt)
		if at == len(lines) {
			return -1
		}
		start := at - p.rare
		if start >= 0 && start+len(p.literal) <= len(lines) && hasPrefixFolded(lines[start:], p.literal) {
			return start
		}
		if at == lowerAt {
			lowerAt = indexFrom(lines, at+1, lower)
		}
		if at == upperAt {
			upperAt = indexFrom(lines, at+1, upper)
		}
	}
}

// indexFrom returns the offset of a byte at or after another offset, or
// len(lines).
func indexFrom(lines []byte, from int, b byte) int {
	if i := bytes.IndexByte(lines[from:], b); i >= 0 {
		return from + i
	}
	return len(lines)
}

// hasPrefixFolded reports whether a text, in any case, begins with a lower-case
// ASCII prefix.
func hasPrefixFolded(text, prefix []byte) bool {
	for i, want := range prefix {
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

// requiredLiteral returns a text that every match of a regular expression
// contains, or "" if none is obvious.
func requiredLiteral(expression string) string {
	re, err := syntax.Parse(expression, syntax.Perl)
	if err != nil {
		return ""
	}
	return longestLiteral(re.Simplify())
}

func longestLiteral(re *syntax.Regexp) (longest string) {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 { // an inner (?i)
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
