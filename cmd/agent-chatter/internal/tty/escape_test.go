package tty

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestEscapeControlsKeepsTheValue(t *testing.T) {
	const hostile = "a\u009b2Jb\u0080\u009f\u007fc\u202ed\u2066e\u2028 ä界😀\u00a0"
	var b strings.Builder
	if err := json.NewEncoder(&b).Encode(hostile); err != nil {
		t.Fatal(err)
	}
	for split := range b.Len() {
		first, incomplete := EscapeControls([]byte(b.String()[:split]))
		second, rest := EscapeControls(append(incomplete, b.String()[split:]...))
		escaped := string(first) + string(second)
		var got string
		if err := json.Unmarshal([]byte(escaped), &got); err != nil || got != hostile || len(rest) > 0 {
			t.Fatalf("split at %d: %s is %q, %q remains: %v", split, escaped, got, rest, err)
		}
		if strings.ContainsFunc(escaped, func(r rune) bool { return r >= 0x7f && r < 0xa0 || isBidiOrSeparator(r) }) {
			t.Errorf("split at %d: %q has a control character", split, escaped)
		}
	}
}

func TestEscapeControlsKeepsOtherText(t *testing.T) {
	for _, text := range []string{"", "\x1b[1mbold\x1b[0m\r\n", "\xff\xfe", "ä\n", "\u00a0"} {
		if escaped, rest := EscapeControls([]byte(text)); string(escaped) != text || len(rest) > 0 {
			t.Errorf("%q became %q, %q remains", text, escaped, rest)
		}
	}
}
