package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of an excerpt.
const (
	excerptWords = 8
	excerptBytes = 300
)

// excerpt returns the beginning of a text in a form that is safe to quote: one line, valid UTF-8,
// without control characters, and without brackets, so that quoting a marker does not make a
// marker. It ends in an ellipsis if the text is longer. It reads no more of the text than it
// needs, unless the text is mostly blanks.
func excerpt(text string) string {
	var b strings.Builder
	words, blank, cut := 0, true, false
	for _, r := range text {
		r, kept := quotable(r)
		switch {
		case !kept:
			continue
		case r == ' ':
			blank = true
			continue
		}
		if blank {
			words++
		}
		if words > excerptWords || b.Len()+len(" ")+utf8.RuneLen(r)+len(" …") > excerptBytes {
			cut = true
			break
		}
		if blank && b.Len() > 0 {
			b.WriteByte(' ')
		}
		blank = false
		b.WriteRune(r)
	}
	quoted := strings.TrimRight(b.String(), ".,;:、。，；：")
	if cut {
		quoted += " …"
	}
	return quoted
}

// quotable returns how an excerpt shows a rune: blanks become spaces, brackets parentheses, double
// quotation marks single ones. It returns false for a rune that is left out.
func quotable(r rune) (rune, bool) {
	switch {
	case unicode.IsSpace(r):
		return ' ', true
	case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
		return 0, false
	case r == '[':
		return '(', true
	case r == ']':
		return ')', true
	case r == '“':
		return '‘', true
	case r == '”':
		return '’', true
	}
	return r, true
}
