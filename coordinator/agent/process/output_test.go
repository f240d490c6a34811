package process

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// split sends text through a splitter in chunks of the given size.
func split(text string, size int) (pieces []string) {
	var s splitter
	for rest := []byte(text); len(rest) > 0; {
		n := min(size, len(rest))
		pieces = append(pieces, s.next(rest[:n]))
		rest = rest[n:]
	}
	return append(pieces, s.rest())
}

func TestSplitterKeepsRunesWhole(t *testing.T) {
	text := "aé日本語🙂\u00a0z🧑‍🚀é"
	for size := 1; size <= len(text); size++ {
		pieces := split(text, size)
		if strings.Join(pieces, "") != text {
			t.Errorf("chunks of %d: %q", size, pieces)
		}
		for _, piece := range pieces {
			if !utf8.ValidString(piece) {
				t.Errorf("chunks of %d: cut in %q", size, piece)
			}
		}
	}
}

func TestSplitterPassesInvalidBytes(t *testing.T) {
	for _, tt := range []struct{ bytes, now string }{
		{"\xff", "\xff"},
		{"a\x80\x80\x80\x80", "a\x80\x80\x80\x80"},
		{"\xc0", "\xc0"},
		{"\xe4\xb8x", "\xe4\xb8x"},
		{"\xed\xa0", "\xed\xa0"}, // half a surrogate: nothing can complete it
		{"a\xe4\xb8", "a"},       // may still become a rune
		{"\xf0\x9f\x99", ""},
	} {
		var s splitter
		if now := s.next([]byte(tt.bytes)); now != tt.now {
			t.Errorf("%q gives %q at once, want %q", tt.bytes, now, tt.now)
		} else if all := now + s.rest(); all != tt.bytes {
			t.Errorf("%q became %q", tt.bytes, all)
		}
	}
}

func FuzzSplitter(f *testing.F) {
	for text, size := range map[string]int{
		"":                          1,
		"abc":                       0,
		"ab":                        100,
		"aé日本語\u0301🙂b":             1,
		"日本語🙂":                      2,
		"abc\xf0\x9f":               4, // incomplete rune at the end
		"\xf0\x9f\x99x\x82":         1, // byte missing within a rune
		"a\xff\xe4\xb8\xf0\x9f\x99": 1,
		"\x80\x80\x80\x80\x80":      2, // continuation bytes only
		"\xc0\x80\xe0\x80\x80":      1, // overlong
		"\xed\xa0\x80x":             1, // surrogate
		"\xf4\x90\x80\x80":          2, // beyond U+10FFFF
	} {
		f.Add(text, size)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		if size < 1 {
			return
		}
		pieces := split(text, size)
		if all := strings.Join(pieces, ""); all != text {
			t.Fatalf("%q became %q", text, all)
		}
		for _, piece := range pieces {
			if utf8.ValidString(text) && !utf8.ValidString(piece) {
				t.Fatalf("cut in %q", piece)
			}
		}
	})
}

func TestTail(t *testing.T) {
	for _, tt := range []struct {
		chunks []string
		want   string
	}{
		{nil, ""},
		{[]string{"short\n"}, "short"},
		{[]string{"0123456789", "abc"}, "56789abc"},
		{[]string{"long ago ", "日本語"}, "本語"}, // the 8 bytes begin in the middle of 日
		{[]string{"a\xffb"}, "a?b"},
		{[]string{"secret-1 a b c"}, "a b c"},   // the end of a cut word may be that of a secret
		{[]string{"a secret-1 x\n"}, "x"},       // at any blank
		{[]string{"123 abcd"}, "123 abcd"},      // all of it fits
		{[]string{"0123 ", "abcdef"}, "abcdef"}, // the word before the blank is cut
	} {
		kept := tail{limit: 8}
		for _, chunk := range tt.chunks {
			kept.write([]byte(chunk))
		}
		if got := kept.text(); got != tt.want {
			t.Errorf("of %q it kept %q, want %q", tt.chunks, got, tt.want)
		}
	}
}
