package serve

import (
	"strings"
	"testing"
	"unicode/utf8"

	"rsc.io/qr"
)

// TestDrawnCode reads the half blocks back, as each kind of terminal shows them.
func TestDrawnCode(t *testing.T) {
	const text = "https://192.168.1.20:8443/#pair=ABCDEFGHJKLM"
	code, err := qr.Encode(text, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		colour, light bool
		block         bool // a block is a dark module
	}{
		"colour": {true, false, true}, "colour on light": {true, true, true},
		"light text on dark": {false, false, false}, "dark text on light": {false, true, true},
	} {
		drawn := drawCode(text, test.colour, test.light)
		if strings.Contains(drawn, "\x1b") != test.colour {
			t.Errorf("%s: %q", name, drawn)
		}
		drawn = strings.NewReplacer(darkOnLight, "", plainColour, "").Replace(drawn)
		lines := strings.Split(strings.TrimSuffix(drawn, "\n"), "\n")
		if len(lines) > 24 {
			t.Errorf("%s: it has %d lines", name, len(lines))
		}
		for row, line := range lines {
			if width := utf8.RuneCountInString(line); width != code.Size+2*margin {
				t.Errorf("%s: line %d has %d columns", name, row, width)
			}
			for column, r := range []rune(line) {
				x, y := column-margin, 2*row-margin
				upper, lower := r == '█' || r == '▀', r == '█' || r == '▄'
				if (upper == test.block) != code.Black(x, y) || (lower == test.block) != code.Black(x, y+1) {
					t.Fatalf("%s: %q at line %d, column %d", name, r, row, column)
				}
			}
		}
	}
	if drawn := drawCode(strings.Repeat("a", 5000), true, false); drawn != "" {
		t.Errorf("a text that is too long: %.100q", drawn)
	}
}
