package tty

import (
	"flag"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSafeEscapesControlCharactersOnly(t *testing.T) {
	pieces := []string{
		"tea",
		"\n",
		"\t",
		"\r\n",
		"\r",
		"\x1b[31m",
		"\x7f",
		"\u0085",
		"\u202e",
		"\u2066",
		"\u2028",
		"壶",
		"🫖",
		"\xff",
		"\xe5",
		"\ufffd",
		"\x00",
	}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "pieces"), "")
		got := Safe(text)
		if want := strings.Map(safeRune, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"),
			"\ufffd")); got != want {
			t.Fatalf("%q becomes %q, not %q", text, got, want)
		}
		if !isSafe(got) || Safe(got) != got {
			t.Fatalf("%q is not safe", got)
		}
	})
}

// A recorded failure would make later runs fail as well.
func init() { flag.Set("rapid.nofailfile", "true") }
