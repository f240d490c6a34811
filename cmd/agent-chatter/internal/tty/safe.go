package tty

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
)

// Safe replaces control characters, bidirectional controls, line and paragraph separators
// and invalid UTF-8 by visible characters. Newlines and tabs stay; \r\n becomes \n.
func Safe(text string) string {
	if isSafe(text) {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.Map(safeRune, strings.ToValidUTF8(text, "\uFFFD"))
}

// isSafe reports whether Safe would return the text unchanged, as it mostly does.
func isSafe(text string) bool {
	for i := 0; i < len(text); {
		if c := text[i]; ' ' <= c && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size == 1 || safeRune(r) != r {
			return false
		}
		i += size
	}
	return true
}

// SafeLine is Safe for one line: newlines and tabs become spaces, too.
func SafeLine(text string) string {
	if text = Safe(text); !strings.ContainsAny(text, "\n\t") {
		return text
	}
	return strings.NewReplacer("\n", " ", "\t", " ").Replace(text)
}

// SafeLines is Safe for a text within a message: each line after the first is marked, so that no text can make a line
// of its own that looks like one of the program.
func SafeLines(text string) string {
	return strings.ReplaceAll(strings.TrimRight(Safe(text), "\n"), "\n", "\n  | ")
}

func safeRune(r rune) rune {
	switch {
	case r == '\n' || r == '\t':
		return r
	case r < 0x20:
		return 0x2400 + r // the symbol for that control character
	case r == 0x7f:
		return 0x2421
	case unicode.IsControl(r), isBidiOrSeparator(r):
		return unicode.ReplacementChar
	}
	return r
}

func isBidiOrSeparator(r rune) bool {
	return r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x2028 || r == 0x2029
}

// Fold breaks the lines of a text between words, for a terminal with that number of columns; with 0 it breaks none.
// It does not break a word that is longer than a line: the terminal does, and the word can be copied whole.
func Fold(text string, columns int) string {
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		column, blanks := 0, ""
		for word := range strings.SplitAfterSeq(line, " ") {
			bare := strings.TrimRight(word, " ")
			n := displaywidth.String(strings.TrimSuffix(bare, "\n"))
			if column > 0 && n > 0 && column+len(blanks)+n >= columns {
				b.WriteByte('\n')
				column, blanks = 0, ""
			}
			b.WriteString(blanks + bare)
			column += len(blanks) + n
			blanks = word[len(bare):]
		}
		b.WriteString(blanks)
	}
	return b.String()
}
