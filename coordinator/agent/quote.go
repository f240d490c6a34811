package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A quote is never longer than this, however long the text and its words are.
const (
	quoteWords = 8
	quoteBytes = 300
)

// quote is the beginning of a text in a form that is safe to repeat: one line, valid UTF-8,
// without control characters, and without brackets, so that no marker of the text becomes a
// marker of whoever quotes it. A text that goes on ends in an ellipsis. It reads no more of
// the text than it needs, unless the text is mostly blanks.
func quote(text string) string {
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
		if words > quoteWords || b.Len()+len(" ")+utf8.RuneLen(r)+len(" …") > quoteBytes {
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

// quotable is the rune as a quote shows it: every blank is a space, brackets are round,
// quotation marks are single, what invalid UTF-8 decodes to is U+FFFD. It reports false for a rune that is left out.
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
