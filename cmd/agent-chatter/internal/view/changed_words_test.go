package view

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestChangedWordsAreMarked(t *testing.T) {
	for _, tt := range []struct{ removed, added, want string }{
		{"a := old + 1", "a := newer + 1", "- a := [old] + 1|+ a := [newer] + 1"},
		{"return oldName", "return oldNames", "- return oldName|+ return [oldNames]"},
		{"if a {", "if a && b {", "- if a {|+ if a [&& b ]{"},
		{"x", "y", "- x|+ y"},
		{"grüße an alle", "grüne an alle", "- [grüße] an alle|+ [grüne] an alle"},
		{"one line\ntwo line", "one row\ntwo row", "- one [line]|- two [line]|+ one [row]|+ two [row]"},
		{"one line\ntwo line", "one row", "- one line|- two line|+ one row"},
	} {
		changes := append(all(Removed, strings.Split(tt.removed, "\n")), all(Added, strings.Split(tt.added, "\n"))...)
		var got []string
		for _, line := range diffLines([]Hunk{{Changes: changes}}, len(changes), Style{}) {
			text := ""
			for _, span := range line {
				if span.Underline && span.Text != "" {
					text += "[" + span.Text + "]"
				} else {
					text += span.Text
				}
			}
			got = append(got, strings.TrimPrefix(text, resultMark))
		}
		if shown := strings.Join(got, "|"); shown != tt.want {
			t.Errorf("got %s, want %s", shown, tt.want)
		}
	}
}

func TestMarkedLinesAreWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.SliceOf(rapid.SampledFrom([]ChangeKind{Kept, Added, Removed})).Draw(t, "kinds")
		var changes []Change
		for _, kind := range kinds {
			changes = append(changes, Change{kind, rapid.StringOfN(rapid.RuneFrom([]rune("ab ü_界")), 0, 8, -1).Draw(t, "text")})
		}
		for i, line := range diffLines([]Hunk{{Changes: changes}}, len(changes), Style{}) {
			text := ""
			for _, span := range line {
				text += span.Text
			}
			if want := resultMark + string(changes[i].Kind) + " " + changes[i].Text; text != want {
				t.Fatalf("got %q, want %q", text, want)
			}
		}
	})
}
