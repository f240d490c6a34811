package ansi

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal/propertytest"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"
)

func texts(lines []Line) []string {
	var all []string
	for _, line := range lines {
		text := ""
		for _, span := range line {
			text += span.Text
		}
		all = append(all, text)
	}
	return all
}

func TestWrapBreaksBetweenWords(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one two three", []string{"one two", "three"}},
		{"one two  three", []string{"one two", "three"}},
		{"one\ntwo\n", []string{"one", "two"}},
		{"one\n\ntwo", []string{"one", "", "two"}},
		{"a abcdefghijklm b", []string{"a", "abcdefgh", "ijklm b"}},
		{"  indented", []string{"indented"}},
		{" a\tb", []string{" a  b"}},
		{"你好世界再见", []string{"你好世界", "再见"}},
		{"ab你好世界。c", []string{"ab你好世", "界。c"}},
		{"café́ naïve x", []string{"café́", "naïve x"}},
		{"👨‍👩‍👧‍👦👨‍👩‍👧‍👦 👍🏽 🇩🇪 a", []string{"👨‍👩‍👧‍👦👨‍👩‍👧‍👦 👍🏽", "🇩🇪 a"}},
		{"שלום עולם", []string{"שלום", "עולם"}},
	} {
		if got := texts(Wrap(Line{{Text: tt.text}}, 8)); !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestWordsInSeveralStylesStayTogether(t *testing.T) {
	lines := Wrap(Line{{Text: "one tw"}, {Text: "o", Style: Style{Bold: true}}, {Text: "x three"}}, 8)
	if got := Color16.Encode(lines[0]); got != "one tw\x1b[1mo\x1b[mx" {
		t.Errorf("%q", got)
	}
}

func TestLongWordsStayWhole(t *testing.T) {
	address := "https://go.dev/" + strings.Repeat("x", 70)
	huge := strings.Repeat("y", 2001)
	for _, tt := range []struct {
		source string
		want   []string
	}{
		{"see " + address + ", and more", []string{"see", address + ",", "and more"}},
		{"- see [it](" + address + ") now", []string{"• see it", "  (" + address + ")", "  now"}},
		{"> # " + address, []string{"│ #", "│ " + address}},
		{"a " + huge[:2000] + " b", []string{"a", huge[:2000], "b"}},
		{"你好" + address, []string{"你好", address}},
	} {
		var got []string
		for _, line := range Piece(piece(tt.source), nil, 79, NoColor) {
			got = append(got, NoColor.Encode(line))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%.60s: %q, want %q", tt.source, got, tt.want)
		}
	}
	for _, source := range []string{huge, "a *b*" + huge + "c d", "|a|\n|-|\n|" + address + "|\n"} {
		for _, line := range Piece(piece(source), nil, 79, NoColor) {
			if n := line.Columns(); n > 79 {
				t.Errorf("%.60s: a line takes %d columns", source, n)
			}
		}
	}
}

// hostileText is text that a terminal could obey, or that takes no room.
var hostileText = []string{
	"a", "b c", " ", "\n", "\t", "\x1b[2J", "\x1b]52;c;QQ==\a", "\x1b]8;;http://a\x1b\\", "\x1bP1$r\x1b\\", "\u009b31m", "\x00", "\x7f", "\r",
	"\b", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\u0301", "\u20dd", "你", "👍🏽", "\U000e0041", "\xff", "\xc2", "\u200f",
}

func TestNoLineIsWiderThanItsRoom(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		var line Line
		for range rapid.IntRange(1, 5).Draw(t, "spans") {
			parts := rapid.SliceOf(rapid.SampledFrom(hostileText)).Draw(t, "parts")
			line = append(line, Span{Text: strings.Join(parts, ""), Style: Style{Bold: rapid.Bool().Draw(t, "bold")}})
		}
		width := rapid.IntRange(2, 40).Draw(t, "width")
		for _, l := range append(Wrap(line, width), Cut(line, width)) {
			text := NoColor.Encode(l)
			if n := displaywidth.String(text); n > width {
				t.Fatalf("%q takes %d of %d columns", text, n, width)
			}
			checkSafe(t, text)
		}
	})
}

func checkSafe(t interface{ Fatalf(string, ...any) }, text string) {
	for _, r := range text {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			t.Fatalf("%q has %U", text, r)
		}
	}
}

func TestInvisibleFloodsAreShort(t *testing.T) {
	for _, flood := range []string{"\u200b", "\u0301", "\u200d", "\ufeff", "\U000e0041", "\u2060", "a\u0301\u0302\u0303\u0304"} {
		text := "x" + strings.Repeat(flood, 1<<16) + "y"
		line := Wrap(Line{{Text: text}}, 40)[0]
		if n := len(NoColor.Encode(line)); n > 40*(maxCharacter+3) {
			t.Errorf("%q: the line has %d bytes", flood, n)
		}
	}
}

func TestLinksAreSafe(t *testing.T) {
	for address, safe := range map[string]bool{
		"http://a.b/c?d=e": true, "HTTPS://a": true, "mailto:a@b": true,
		"javascript:alert(1)": false, "file:///etc/passwd": false, "a.go": false, "//a": false, "": false, "https": false,
		"http://a\x1b]8;;": false, "http://a b": false, "http://a\nb": false, "http://ä": false, "http://a\u202e": false,
		"http:/a": false, "http://a~!": true, "http://a\x7f": false,
		"http://" + strings.Repeat("a", 1993): true, "http://" + strings.Repeat("a", 1994): false,
	} {
		if got := SafeLink(address) != ""; got != safe {
			t.Errorf("%.60q: %v, want %v", address, got, safe)
		}
	}
}

func piece(source string) markdown.Piece {
	var s markdown.Stream
	return append(s.Write(source), s.Close()...)[0]
}

func TestLinksShowWhereTheyLead(t *testing.T) {
	for _, tt := range []struct{ source, colored, plain string }{
		{"[a](http://b)", "\x1b]8;;http://b\x1b\\\x1b[4ma\x1b[m\x1b]8;;\x1b\\\x1b[2m (http://b)\x1b[m", "a (http://b)"},
		{"<http://b>", "\x1b]8;;http://b\x1b\\\x1b[4mhttp://b\x1b[m\x1b]8;;\x1b\\", "http://b"},
		{"[http://b](http://b)", "\x1b]8;;http://b\x1b\\\x1b[4mhttp://b\x1b[m\x1b]8;;\x1b\\", "http://b"},
		{"<a@b.c>", "\x1b]8;;mailto:a@b.c\x1b\\\x1b[4ma@b.c\x1b[m\x1b]8;;\x1b\\", "a@b.c"},
		{
			"[http://a](http://b)", "\x1b]8;;http://b\x1b\\\x1b[4mhttp://a\x1b[m\x1b]8;;\x1b\\\x1b[2m (http://b)\x1b[m",
			"http://a (http://b)",
		},
		{"[a](javascript:b)", "\x1b[4ma\x1b[m\x1b[2m (javascript:b)\x1b[m", "a (javascript:b)"},
		{"[](http://b)", "\x1b]8;;http://b\x1b\\\x1b[4mhttp://b\x1b[m\x1b]8;;\x1b\\", "http://b"},
		{
			"[**a** b](http://c)",
			"\x1b]8;;http://c\x1b\\\x1b[1;4ma\x1b[m\x1b[4m b\x1b[m\x1b]8;;\x1b\\\x1b[2m (http://c)\x1b[m", "a b (http://c)",
		},
		{"[a](http://b\\\x1b)", "\x1b[4ma\x1b[m\x1b[2m (http://b\\␛)\x1b[m", "a (http://b\\␛)"},
	} {
		p := piece(tt.source)
		if got := Color16.Encode(Piece(p, nil, 80, Color16)[0]); got != tt.colored {
			t.Errorf("%s:\n%q, want\n%q", tt.source, got, tt.colored)
		}
		if got := NoColor.Encode(Piece(p, nil, 80, NoColor)[0]); got != tt.plain {
			t.Errorf("%s: %q, want %q", tt.source, got, tt.plain)
		}
	}
}

func TestStrikethrough(t *testing.T) {
	p := piece("a ~~b **c**~~ d")
	if got, want := Color16.Encode(Piece(p, nil, 80, Color16)[0]), "a \x1b[9mb \x1b[m\x1b[1;9mc\x1b[m d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := NoColor.Encode(Piece(p, nil, 80, NoColor)[0]), "a ~~b c~~ d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLinkIsCompleteOnEachOfItsLines(t *testing.T) {
	for _, line := range Piece(piece("[one two three](http://b)"), nil, 8, Color16)[:2] {
		text := Color16.Encode(line)
		if strings.Count(text, "\x1b]8;;http://b\x1b\\") != 1 || !strings.HasSuffix(text, "\x1b]8;;\x1b\\") {
			t.Errorf("%q", text)
		}
	}
}

func TestParseColor(t *testing.T) {
	for name, want := range map[string]Color{
		"red": Red, "Red": Red, "brightRed": BrightRed, "red-bright": BrightRed, "RED_BRIGHT": BrightRed, "gray": BrightBlack,
		"#ff0000": BrightRed, "#c00": Red, "#aa5500": Red, "#00f": Blue, "#3f3f41": BrightBlack,
		"": Default, "ultramarine": Default, "#12": Default, "#gggggg": Default, "bright": Default, "\x1b[31m": Default,
	} {
		if got := ParseColor(name); got != want {
			t.Errorf("%q: %d, want %d", name, got, want)
		}
	}
}

func TestTableFitsItsRoom(t *testing.T) {
	propertytest.Check(t, func(t *rapid.T) {
		columns := rapid.IntRange(1, 30).Draw(t, "columns")
		cells := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "two words", "你好世界", "", "longerthanmost", "`x`"}), columns, columns)
		row := func() string { return "|" + strings.Join(cells.Draw(t, "row"), "|") + "|\n" }
		source := row() + "|" + strings.Repeat("--:|", columns) + "\n" + row() + row()
		width := rapid.IntRange(minText, 120).Draw(t, "width")
		for _, line := range Piece(piece(source), nil, width, NoColor) {
			if n := line.Columns(); n > width {
				t.Fatalf("%q takes %d of %d columns", NoColor.Encode(line), n, width)
			}
		}
	})
}

func TestColumnsWithRoomAreNarrowedFirst(t *testing.T) {
	for _, tt := range []struct {
		widths, words []int
		room          int
		want          []int
		fits          bool
	}{
		{[]int{10, 10}, []int{3, 3}, 23, []int{10, 10}, true},
		{[]int{10, 30}, []int{10, 5}, 33, []int{10, 20}, true},
		{[]int{20, 30}, []int{20, 5}, 30, []int{20, 7}, true},
		{[]int{20, 30}, []int{20, 5}, 20, []int{12, 5}, true},
		{[]int{20, 30}, []int{20, 5}, 17, []int{9, 5}, false},
		{[]int{8, 20}, []int{2, 20}, 19, []int{2, 14}, true},
	} {
		got := slices.Clone(tt.widths)
		fits := narrow(got, slices.Clone(tt.words), tt.room)
		if fits != tt.fits || !slices.Equal(got, tt.want) {
			t.Errorf("%v with words %v on %d columns: %v, %v, want %v, %v", tt.widths, tt.words, tt.room, got, fits, tt.want, tt.fits)
		}
	}
}

func TestWideCharactersAreWords(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a bc": 2, "你好": 2, "ab你c": 4, "e\u0301e\u0301": 2} {
		if got := longestWord(Line{{Text: text}}); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestStylesAreEncoded(t *testing.T) {
	for _, tt := range []struct {
		style Style
		want  string
	}{
		{Style{}, "x"},
		{Style{Bold: true, Dim: true, Italic: true, Underline: true, Strike: true}, "\x1b[1;2;3;4;9mx\x1b[m"},
		{Style{Color: Black}, "\x1b[30mx\x1b[m"},
		{Style{Color: BrightBlack - 1}, "\x1b[37mx\x1b[m"},
		{Style{Color: BrightBlack}, "\x1b[90mx\x1b[m"},
		{Style{Color: Red, Bold: true}, "\x1b[1;31mx\x1b[m"},
		{Style{Color: Red, Reverse: true}, "\x1b[7;31mx\x1b[m"},
	} {
		if got := Color16.Encode(Line{{Text: "x", Style: tt.style}}); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.style, got, tt.want)
		}
	}
}

func TestTables(t *testing.T) {
	for _, tt := range []struct {
		name, source string
		width        int
		want         []string
	}{
		{"alignment", "|a|b|c|\n|-|:-:|-:|\n|12345|12345|12345|\n|x|y|z|\n", 40, []string{
			"a     │   b   │     c", "──────┼───────┼──────", "12345 │ 12345 │ 12345", "x     │   y   │     z"}},
		{"the least room", "|a|b|\n|-|-|\n|1|2|\n", 12, []string{"a │ b", "──┼──", "1 │ 2"}},
		{"narrowed columns", "|abc def|b|\n|-|-|\n|1|2|\n", 12, []string{"abc def │ b", "────────┼──", "1       │ 2"}},
		{"wrapped cells", "|abcd efghi|xyz|\n|-|-|\n|1|2 3|\n", 12, []string{
			"abcd   │ xyz", "efghi  │", "───────┼────", "1      │ 2 3"}},
		{"the widest column is narrowed", "|abcd efgh ijkl|xyz xyz|\n|-|-|\n|1|2|\n", 16, []string{
			"abcd   │ xyz xyz", "efgh   │", "ijkl   │", "───────┼────────", "1      │ 2"}},
		{"a line break in a paragraph", "a\\\nb\n", 12, []string{"a", "b"}},
		{"records", "|a|b|c|\n|-|-|-|\n|1|2|3|\n|4|5|6|\n", 17, []string{
			"a: 1 · b: 2 · c:", "3", "─────────────────", "a: 4 · b: 5 · c:", "6"}},
		{"columns, not records", "|a|b|c|\n|-|-|-|\n|1|2|3|\n", 18, []string{"a │ b │ c", "──┼───┼──", "1 │ 2 │ 3"}},
		{"records with long names", "|" + strings.Repeat("n", 25) + "|" + strings.Repeat("m", 24) + strings.Repeat("|c", 12) + "|\n" +
			strings.Repeat("|-", 14) + "|\n|1|2|\n", 94, []string{
			strings.Repeat("n", 23) + "…: 1 · " + strings.Repeat("m", 24) + ": 2"}},
		{"records without rows", "|a|b|c|\n|-|-|-|\n", 16, []string{"a · b · c"}},
	} {
		var got []string
		for _, line := range Piece(piece(tt.source), nil, tt.width, NoColor) {
			got = append(got, NoColor.Encode(line))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s:\n%s\nwant\n%s", tt.name, strings.Join(got, "\n"), strings.Join(tt.want, "\n"))
		}
	}
}

func TestHeadOfATableIsBold(t *testing.T) {
	for width, want := range map[int][]string{
		40: {"\x1b[1ma\x1b[m\x1b[2m │ \x1b[m\x1b[1mb\x1b[m\x1b[2m │ \x1b[m\x1b[1mc\x1b[m", "1\x1b[2m │ \x1b[m2\x1b[2m │ \x1b[m3"},
		16: {"\x1b[1ma\x1b[m: 1\x1b[2m · \x1b[m\x1b[1mb\x1b[m: 2\x1b[2m · \x1b[m\x1b[1mc\x1b[m:", "3"},
	} {
		lines := Piece(piece("|a|b|c|\n|-|-|-|\n|1|2|3|\n"), nil, width, Color16)
		if got := []string{Color16.Encode(lines[0]), Color16.Encode(lines[len(lines)-1])}; !slices.Equal(got, want) {
			t.Errorf("of %d columns:\n%q, want\n%q", width, got, want)
		}
	}
}

func TestCutHasAnEllipsisIfSomethingIsMissing(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "abcde": "abcde", "abcdef": "abcd…", "a\tb\nc": "a b c", "a你好": "a你好", "ab你好": "ab你…", "abc你好": "abc…",
		strings.Repeat("\u200b", 3) + "abcde": strings.Repeat("\u200b", 3) + "abcde", strings.Repeat("\u200b", 4) + "abcd": strings.Repeat("\u200b", 3) + "\ufffdabcd",
		"a\u200b\u200b\u200bb\u200b\u200b\u200bc": "a\u200b\u200b\u200bb\u200b\u200b\u200bc",
	} {
		if got := texts([]Line{Cut(Line{{Text: text}}, 5)})[0]; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestTabsAreExpanded(t *testing.T) {
	for text, want := range map[string]string{"\ta": "    a", "a\tb": "a   b", "abcd\tb": "abcd    b", "a\tb\tc": "a   b   c", "你\tb": "你  b"} {
		if got := ExpandTabs(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
