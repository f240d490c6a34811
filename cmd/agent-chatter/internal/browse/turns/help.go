package turns

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// MoveKeys are the keys of a List and what they do.
var MoveKeys = [][2]string{
	{"↑ ↓ j k", "select a row"},
	{"PgUp PgDn", "move by a page"},
	{"Ctrl+U Ctrl+D", "move by half a page"},
	{"g G", "first, last row"},
}

// Help is a page of keys and of the signs of rows.
func Help(title string, keys [][2]string, columns int) []ansi.Line {
	lines := []ansi.Line{{{Text: " " + title, Style: ansi.Style{Bold: true}}}, nil}
	for _, k := range keys {
		key := ansi.Span{Text: k[0], Style: ansi.Style{Color: ansi.Cyan}}
		blanks := strings.Repeat(" ", max(16-ansi.Line{key}.Columns(), 1))
		lines = append(lines, ansi.Line{{Text: "  "}, key, {Text: blanks + k[1]}})
	}
	lines = append(lines, nil)
	for _, line := range ansi.Wrap(legend(), max(columns-2, 10)) {
		lines = append(lines, append(ansi.Line{{Text: "  "}}, line...))
	}
	return append(lines, nil, ansi.Line{{Text: "  "}, dimmed("Any key closes this page.")})
}

// legend explains the signs of rows.
func legend() (line ansi.Line) {
	add := func(sign ansi.Span, name string) {
		line = append(line, sign, ansi.Span{Text: "\u00a0" + strings.ReplaceAll(name, " ", "\u00a0") + "  "})
	}
	for _, e := range endings {
		if e.sign != " " {
			add(ansi.Span{Text: e.sign, Style: ansi.Style{Color: e.color}}, e.name)
		}
	}
	add(dimmed("·"), "change of the session")
	add(ansi.Span{Text: "2\u00a0✗1", Style: ansi.Style{Color: ansi.Red}}, "two tool calls, of which one failed")
	return line
}
