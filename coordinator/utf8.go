package coordinator

import (
	"strings"
	"unicode/utf8"
)

// validUTF8 returns a text with U+FFFD in place of each run of invalid bytes.
func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// validAfter returns what validUTF8 adds for a text that follows another, if no rune is cut between them: a run of
// invalid bytes across both is one run.
func validAfter(before, text string) string {
	valid := validUTF8(text)
	last, n := utf8.DecodeLastRuneInString(before)
	first, m := utf8.DecodeRuneInString(text)
	if last == utf8.RuneError && n == 1 && first == utf8.RuneError && m == 1 {
		valid = strings.TrimPrefix(valid, "\uFFFD")
	}
	return valid
}
