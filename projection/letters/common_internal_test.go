package letters

import (
	"strings"
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
		if composed := norm.NFC.String("j" + string(r)); !strings.HasPrefix(composed, "j") {
			t.Errorf("%q composes with a letter to %q", r, composed)
		}
	}
	if common < 20_000 {
		t.Errorf("only %d characters are common", common)
	}
}
