package runecut

import "unicode/utf8"

// Prefix returns the longest prefix of text that has at most limit bytes and
// does not end with an incomplete rune.
func Prefix[T ~string | ~[]byte](text T, limit int) T {
	end := min(max(limit, 0), len(text))
	for start := end - 1; start >= 0 && end-start < utf8.UTFMax; start-- {
		if utf8.RuneStart(text[start]) {
			if !utf8.FullRune([]byte(text[start:end])) {
				return text[:start]
			}
			break
		}
	}
	return text[:end]
}

// Suffix returns the longest suffix of text that has at most limit bytes and
// does not begin with continuation bytes of a rune.
func Suffix[T ~string | ~[]byte](text T, limit int) T {
	start := len(text) - min(max(limit, 0), len(text))
	for n := 0; n < utf8.UTFMax-1 && start < len(text) && !utf8.RuneStart(text[start]); n++ {
		start++
	}
	return text[start:]
}
