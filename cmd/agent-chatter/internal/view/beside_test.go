package view

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/journal/propertytest"
)

func TestBesideRows(t *testing.T) {
	h := Hunk{Path: "a", Old: 7, New: 9}
	for _, line := range []string{" a", "-b", "-c", "+d", " e", "+f", "-g", "-h", "+i", "+j", "+k"} {
		h.Changes = append(h.Changes, Change{ChangeKind(line[0]), line[1:]})
	}
	var got []string
	for _, row := range BesideRows(h) {
		var sides [2]string
		for i, side := range row {
			if side.Kind != 0 {
				sides[i] = fmt.Sprintf("%d%c%s", side.Number, side.Kind, side.Text[0].Text)
			}
		}
		got = append(got, sides[0]+"|"+sides[1])
	}
	want := "7 a|9 a 8-b|10+d 9-c| 10 e|11 e |12+f 11-g|13+i 12-h|14+j |15+k"
	if text := strings.Join(got, " "); text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// Whatever the lines, both sides keep to their columns, and all texts are shown.
func TestBesideLinesFit(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		h := Hunk{Path: "a.go", Old: rapid.IntRange(0, 1e6).Draw(t, "old"), New: rapid.IntRange(1, 1e6).Draw(t, "new")}
		for range rapid.IntRange(0, 12).Draw(t, "lines") {
			h.Changes = append(h.Changes, Change{
				rapid.SampledFrom([]ChangeKind{Kept, Added, Removed}).Draw(t, "kind"),
				rapid.StringOfN(rapid.SampledFrom([]rune("ab \t{\"/*日\u0301\x1b\u202e")), 0, 90, -1).Draw(t, "text"),
			})
		}
		width := rapid.IntRange(40, 160).Draw(t, "width")
		profile := rapid.SampledFrom([]ansi.Profile{ansi.NoColor, ansi.Color16}).Draw(t, "profile")
		for _, line := range BesideLines(h, Style{Width: width, Profile: profile, Whole: true}) {
			if n := line.Columns(); n >= width {
				t.Fatalf("%d columns of %d: %v", n, width, line)
			}
		}
	})
}
