package letters

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Compose returns a text in Unicode's normal form C: each letter with its marks is one character, if there is one.
func Compose(text string) string {
	if isASCII(text) {
		return text
	}
	return compose(text)
}

// toASCII are the characters beyond ASCII whose normal form is in ASCII: the signs of Kelvin, of a Greek question and
// of a Greek accent. They stay as they are, see Fold.
const toASCII = "\u212a\u037e\u1fef"

func compose(text string) string {
	if norm.NFC.IsNormalString(text) {
		return text
	}
	at := strings.IndexAny(text, toASCII)
	if at < 0 {
		return norm.NFC.String(text)
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return norm.NFC.String(text[:at]) + text[at:at+size] + compose(text[at+size:])
}

// Fold returns Compose of a text without differences of case, as Unicode defines them for each character. A character
// beyond ASCII never becomes an ASCII letter, as ß would become ss: searches skip lines that lack the ASCII letters.
func Fold(text string) string {
	if isASCII(text) {
		return strings.ToLower(text)
	}
	var b strings.Builder
	b.Grow(len(text))
	marked := false // a folded letter may have become one that composes with a mark
	for _, r := range compose(text) {
		if folded, ok := foldCommon(r); ok {
			b.WriteRune(folded)
			continue
		}
		marked = true
		b.WriteString(foldRune(r))
	}
	if !marked {
		return b.String()
	}
	return compose(b.String())
}

// foldCommon returns foldRune of the characters of which most texts consist; false: it is another. None of them is a
// mark that composes with a letter that has case.
func foldCommon(r rune) (folded rune, ok bool) {
	switch {
	case 'A' <= r && r <= 'Z', 'À' <= r && r <= 'Þ' && r != '×':
		return r + 'a' - 'A', true
	case r < utf8.RuneSelf, 'ß' <= r && r <= 'ÿ',
		'\u2010' <= r && r <= '\u2027',         // dashes and quotes
		'\u2190' <= r && r <= '\u23ff',         // arrows and technical signs
		'\u2500' <= r && r <= '\u2bff',         // lines and pictures
		'\u3001' <= r && r <= '\u9fff',         // Chinese and Japanese
		'\U0001f000' <= r && r <= '\U0001faff': // pictures
		return r, true
	}
	return 0, false
}

// foldRune folds a character that has case, and its parts, such as the iota below a Greek letter. Package
// golang.org/x/text/cases does the same, but its tables of languages take a hundredth of the program.
func foldRune(r rune) string {
	if unicode.SimpleFold(r) == r {
		return string(r)
	}
	folded := strings.Map(foldSimple, norm.NFD.String(string(r)))
	if !strings.ContainsFunc(folded, func(r rune) bool { return r < utf8.RuneSelf }) {
		return norm.NFC.String(folded)
	}
	if l := foldSimple(r); l >= utf8.RuneSelf {
		return string(l)
	}
	return string(r)
}

// foldSimple returns the small letter of a character.
func foldSimple(r rune) rune { return unicode.ToLower(unicode.ToUpper(r)) }

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Source returns the part of a text that its form, as Compose and Fold return it, has from one offset up to another. It
// has whole letters with their marks.
func Source(text string, form func(string) string, from, to int) (start, end int) {
	if isASCII(text) {
		return from, to
	}
	start = -1
	for formed := 0; end < len(text) && (formed < to || start < 0); {
		next := end + norm.NFC.NextBoundaryInString(text[end:], true)
		formed += len(form(text[end:next]))
		if start < 0 && formed > from {
			start = end
		}
		end = next
	}
	switch {
	case start < 0:
		return end, end
	case from == to:
		return start, start
	}
	return start, end
}

// Index finds a text, which Fold or Compose has returned, in the form of another. It returns its place there, in bytes.
func Index(text, wanted string, form func(string) string) (start, end int, ok bool) {
	at := strings.Index(form(text), wanted)
	if at < 0 {
		return 0, 0, false
	}
	start, end = Source(text, form, at, at+len(wanted))
	return start, end, true
}

// IndexFold is Index of a text that Fold has returned.
func IndexFold(text, wanted string) (start, end int, ok bool) {
	if isASCII(wanted) {
		// Only ASCII becomes ASCII, so the text has it at the same place, unless a mark changes its last letter.
		at := strings.Index(lowerASCII(text), wanted)
		if at < 0 {
			return 0, 0, false
		}
		if end := at + len(wanted); end == len(text) || text[end] < utf8.RuneSelf {
			return at, end, true
		}
	}
	return Index(text, wanted, Fold)
}

func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
