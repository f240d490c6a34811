package serve

import (
	"encoding/xml"
	"fmt"
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

// TestCodeAsPicture reads the modules of the picture back.
func TestCodeAsPicture(t *testing.T) {
	const text = "https://192.168.1.20:8443/#pair=ABCDEFGHJKLM"
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		t.Fatal(err)
	}
	var picture struct {
		ViewBox string `xml:"viewBox,attr"`
		Path    struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	if err := xml.Unmarshal([]byte(svgCode(text)), &picture); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("0 0 %d %d", code.Size+2*quiet, code.Size+2*quiet); picture.ViewBox != want {
		t.Errorf("the picture is %s, want %s", picture.ViewBox, want)
	}
	dark := map[[2]int]bool{}
	for part := range strings.SplitSeq(strings.TrimSuffix(picture.Path.D, "z"), "z") {
		var x, y, length, back int
		if _, err := fmt.Sscanf(part, "M%d %dh%dv1h-%d", &x, &y, &length, &back); err != nil || length != back {
			t.Fatalf("%q: %v", part, err)
		}
		for i := range length {
			dark[[2]int{x + i - quiet, y - quiet}] = true
		}
	}
	for y := -quiet; y < code.Size+quiet; y++ {
		for x := -quiet; x < code.Size+quiet; x++ {
			if dark[[2]int{x, y}] != code.Black(x, y) {
				t.Fatalf("the module at %d, %d is wrong", x, y)
			}
		}
	}
	if got := svgCode(strings.Repeat("a", 5000)); got != "" {
		t.Errorf("a text that is too long: %.100q", got)
	}
}
