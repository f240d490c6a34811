package letters

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func TestCommonCharactersAreFoldedLikeOthers(t *testing.T) {
	common := 0
	for r := range rune(unicode.MaxRune) {
		got, ok := foldCommon(r)
		if !ok || !utf8.ValidRune(r) {
			continue
		}
		common++
		want := string(unicode.ToLower(r))
		if r >= utf8.RuneSelf {
			want = foldRune(r)
		}
		if string(got) != want {
			t.Errorf("%q is folded to %q, want %q", r, got, want)
		}
		if norm.NFC.PropertiesString(string(r)).BoundaryBefore() {
			continue
		}
		for letter := range rune(0x100) { // no other common character has case
			folded, common := foldCommon(letter)
			if composed := norm.NFC.String(string(folded) + string(r)); common && composed != string(folded)+string(r) {
				t.Errorf("%q composes with %q to %q", r, folded, composed)
			}
		}
	}
	if common < 20_000 {
		t.Errorf("only %d characters are common", common)
	}
}
