package runecut_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

func ExamplePrefix() {
	fmt.Println(runecut.Prefix("größer", 3), runecut.Prefix("größer", 4), runecut.Suffix("größer", 4))
	// Output: gr grö ßer
}

func TestCutOfInvalidTextKeepsItsBytes(t *testing.T) {
	for _, test := range []struct {
		text           string
		limit          int
		prefix, suffix string
	}{
		{"", 3, "", ""},
		{"abc", -1, "", ""},
		{"abc", 0, "", ""},
		{"abc", 5, "abc", "abc"},
		{"é", 1, "", ""},
		{"a\xff", 2, "a\xff", "a\xff"},
		{"\x80\x80\x80\x80\x80", 4, "\x80\x80\x80\x80", "\x80"}, // no rune has more than three continuation bytes
		{"a\xe4\xb8", 3, "a", "a\xe4\xb8"},                      // the text itself ends with an incomplete rune
		{"a\xed\xa0", 3, "a\xed\xa0", "a\xed\xa0"},              // a surrogate: nothing completes it
	} {
		if got := runecut.Prefix(test.text, test.limit); got != test.prefix {
			t.Errorf("Prefix(%q, %d) = %q, want %q", test.text, test.limit, got, test.prefix)
		}
		if got := runecut.Suffix(test.text, test.limit); got != test.suffix {
			t.Errorf("Suffix(%q, %d) = %q, want %q", test.text, test.limit, got, test.suffix)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add("aé日本語🙂\u00a0z🧑‍🚀é", 7)
	f.Add("\xe4\xb8x\xff", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		prefix, suffix := runecut.Prefix(text, limit), runecut.Suffix(text, limit)
		if !strings.HasPrefix(text, prefix) || !strings.HasSuffix(text, suffix) {
			t.Fatalf("%q cut to %d: %q and %q", text, limit, prefix, suffix)
		}
		limit = min(max(limit, 0), len(text))
		for _, cut := range []string{prefix, suffix} {
			if len(cut) > limit || len(cut) < limit-(utf8.UTFMax-1) ||
				utf8.ValidString(text) && !utf8.ValidString(cut) {
				t.Errorf("%q cut to %d: %q", text, limit, cut)
			}
		}
		if string(runecut.Prefix([]byte(text), limit)) != prefix ||
			string(runecut.Suffix([]byte(text), limit)) != suffix {
			t.Error("bytes are cut differently from a string")
		}
	})
}
