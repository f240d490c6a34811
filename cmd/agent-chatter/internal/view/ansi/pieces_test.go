package ansi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// laidOut returns the lines of all pieces of a message. Code is shown as it is written.
func laidOut(source string, columns int, profile Profile) (lines []string) {
	var s markdown.Stream
	for _, p := range append(s.Write(source), s.Close()...) {
		for _, line := range Piece(p, Line{{Text: strings.TrimSuffix(p.Source, "\n")}}, columns, profile) {
			lines = append(lines, profile.Encode(line))
		}
	}
	return lines
}

func TestPieces(t *testing.T) {
	const rule = "────────────────────────"
	for _, tt := range []struct {
		source         string
		plain, colored []string
	}{
		{"# *a* `b`", []string{"# a `b`"}, []string{"\x1b[1;3;4ma\x1b[m\x1b[1;4m \x1b[m\x1b[1;4;36mb\x1b[m"}},
		{"## a", []string{"## a"}, []string{"\x1b[1ma\x1b[m"}},
		{"### a", []string{"### a"}, []string{"\x1b[1ma\x1b[m"}},
		{"#### a", []string{"#### a"}, []string{"\x1b[1;2ma\x1b[m"}},
		{"*a `b` **c**d*e", []string{"a `b` cde"},
			[]string{"\x1b[3ma \x1b[m\x1b[3;36mb\x1b[m\x1b[3m \x1b[m\x1b[1;3mc\x1b[m\x1b[3md\x1b[me"}},
		{"***", []string{rule}, []string{"\x1b[2m" + rule + "\x1b[m"}},
		{"> a\n>\n> b", []string{"│ a", "│", "│ b"}, []string{"\x1b[2m│ \x1b[ma", "\x1b[2m│\x1b[m", "\x1b[2m│ \x1b[mb"}},
		{"a\n\n> b", []string{"a", "│ b"}, []string{"a", "\x1b[2m│ \x1b[mb"}},
		{"- a\n\n  b\n- c", []string{"• a", "  b", "• c"}, []string{"\x1b[2m• \x1b[ma", "  b", "\x1b[2m• \x1b[mc"}},
		{"9. a\n10. b\n    c", []string{"9. a", "10. b", "    c"},
			[]string{"\x1b[2m9. \x1b[ma", "\x1b[2m10. \x1b[mb", "    c"}},
		{"- > 1. a", []string{"• │ 1. a"}, []string{"\x1b[2m• \x1b[m\x1b[2m│ \x1b[m\x1b[2m1. \x1b[ma"}},
		{"-\n- a", []string{"•", "• a"}, []string{"\x1b[2m•\x1b[m", "\x1b[2m• \x1b[ma"}},
	} {
		if got := laidOut(tt.source, 30, NoColor); !slices.Equal(got, tt.plain) {
			t.Errorf("%q, plain: %q, want %q", tt.source, got, tt.plain)
		}
		if got := laidOut(tt.source, 30, Color16); !slices.Equal(got, tt.colored) {
			t.Errorf("%q, in colour: %q, want %q", tt.source, got, tt.colored)
		}
	}
}

// A container has a prefix if 12 columns are left for the text. A rule has 24 columns at most.
func TestPrefixesLeaveRoomForTheText(t *testing.T) {
	for columns, want := range map[int][]string{
		13: {"aa bb cc dd", "ee"}, 14: {"│ aa bb cc dd", "│ ee"}, 15: {"│ aa bb cc dd", "│ ee"},
		16: {"│ • aa bb cc dd", "│   ee"}, 18: {"│ • aa bb cc dd ee"}, 19: {"│ • 1. aa bb cc dd", "│      ee"},
	} {
		if got := laidOut("> - 1. aa bb cc dd ee", columns, NoColor); !slices.Equal(got, want) {
			t.Errorf("%d columns: %q, want %q", columns, got, want)
		}
	}
	for columns, want := range map[int]int{25: 23, 26: 24, 27: 24} {
		if got := laidOut("> ***", columns, NoColor)[0]; got != "│ "+strings.Repeat("─", want) {
			t.Errorf("a rule in %d columns: %q", columns, got)
		}
	}
}

func TestWordsEndAtWideCharacters(t *testing.T) {
	for text, want := range map[string][]string{
		"漢\u200bab": {"漢\u200b", "ab"}, "漢ab": {"漢", "ab"}, "ab漢": {"ab", "漢"}, "漢字": {"漢", "字"},
		"abcdef漢字": {"abc", "def", "漢", "字"}, "ab漢字cd": {"ab", "漢", "字", "cd"}, "漢。a": {"漢。", "a"}, "。a": {"。a"},
	} {
		if got := texts(Wrap(Line{{Text: text}}, 3)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	// A wide character ends a word that is divided.
	address := "https://go.dev/" + strings.Repeat("x", 70)
	lines := texts(Flow(Line{{Text: strings.Repeat("y", maxWhole+1) + "漢" + address}}, 79))
	if got := lines[len(lines)-1]; got != address {
		t.Errorf("the last line is %q", got)
	}
}

func TestIndentationIsKeptIfTheWordFits(t *testing.T) {
	for text, want := range map[string][]string{
		" abcdefg": {" abcdefg"}, " abcdefgh": {"abcdefgh"}, "a  bcdefg": {"a", "bcdefg"}, "a  bcdef": {"a  bcdef"},
		"a\u200b\u200b\u200b\n\u200b\u200b\u200bb": {"a\u200b\u200b\u200b", "\u200b\u200b\u200bb"}, // counted in each line
	} {
		if got := texts(Wrap(Line{{Text: text}}, 8)); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got, want := Color16.Encode(Wrap(Line{{Text: "one two", Style: Style{Bold: true}}}, 8)[0]), "\x1b[1mone two\x1b[m"; got != want {
		t.Errorf("words of one style: %q, want %q", got, want)
	}
}

func TestColorsAreNearestToThemselves(t *testing.T) {
	for i, name := range []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"} {
		if got := ParseColor(name); got != Black+Color(i) {
			t.Errorf("%s: %d", name, got)
		}
		if got := ParseColor("bright-" + name); got != BrightBlack+Color(i) {
			t.Errorf("bright-%s: %d", name, got)
		}
	}
	for i, rgb := range []uint32{
		0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5,
		0x7f7f7f, 0xff0000, 0x00ff00, 0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
	} {
		if got := ParseColor(fmt.Sprintf("#%06x", rgb)); got != Black+Color(i) {
			t.Errorf("#%06x: %d, want %d", rgb, got, Black+Color(i))
		}
	}
	if got := ParseColor("#e60000"); got != Red { // as near to bright red
		t.Errorf("between red and bright red: %d", got)
	}
}
