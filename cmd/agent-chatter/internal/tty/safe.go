package tty

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe makes text harmless to a terminal: control characters and those that
// turn the direction of writing become visible ones. Line breaks and tabs stay.
func Safe(text string) string {
	if isSafe(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(safeRune, strings.ToValidUTF8(text, "\uFFFD"))
}

// isSafe reports whether safe would leave the text as it is, as most of it is.
func isSafe(text string) bool {
	for i := 0; i < len(text); {
		size := 1
		r := rune(text[i])
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[i:])
		}
		if r == utf8.RuneError && size == 1 || r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && safeRune(r) != r {
			return false
		}
		i += size
	}
	return true
}

// safeLine is safe, on one line.
func SafeLine(text string) string {
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(Safe(text))
}

func safeRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < 0x20:
		return 0x2400 + r // the picture of that control character
	case r == 0x7f:
		return 0x2421
	case unicode.IsControl(r), isBidi(r):
		return unicode.ReplacementChar
	}
	return r
}

func isBidi(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}
