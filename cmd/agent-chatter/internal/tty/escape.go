package tty

import (
	"fmt"
	"unicode/utf8"
)

// EscapeControls replaces each C1 control character, DEL, bidirectional control, and line or
// paragraph separator in UTF-8 text by its escape in JSON, such as \u009b. Of JSON it
// changes no value: they occur only in strings. incomplete is the start of a character at the end of the text.
func EscapeControls(text []byte) (escaped, incomplete []byte) {
	for len(text) > 0 {
		at := 0
		for at < len(text) && text[at] < 0x7f {
			at++
		}
		escaped, text = append(escaped, text[:at]...), text[at:]
		if !utf8.FullRune(text) {
			break
		}
		r, size := utf8.DecodeRune(text)
		if r >= 0x7f && r < 0xa0 || isBidiOrSeparator(r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = append(escaped, text[:size]...)
		}
		text = text[size:]
	}
	return escaped, text
}
