package letters

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// A character that has case is folded as Unicode's table has it, unless the result had ASCII letters. Of the letters of Cherokee,
// package cases swaps the cases.
func TestCharactersAreFoldedLikeUnicode(t *testing.T) {
	unicodeFold := cases.Fold()
	for r := range rune(unicode.MaxRune) {
		if r < utf8.RuneSelf || !utf8.ValidRune(r) || unicode.SimpleFold(r) == r || unicode.Is(unicode.Cherokee, r) {
			continue
		}
		want := unicodeFold.String(string(r))
		if strings.ContainsFunc(want, func(r rune) bool { return r < utf8.RuneSelf }) {
			continue
		}
		if got := foldRune(r); norm.NFC.String(got) != norm.NFC.String(want) {
			t.Errorf("%U is folded to %+q, want %+q", r, got, want)
		}
	}
}
