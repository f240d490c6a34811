package review

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// helpKeys are the keys and what they do.
var helpKeys = [][2]string{
	{"↑ ↓ j k", "select a row, or scroll"},
	{"PgUp PgDn", "move by a page"},
	{"Ctrl+U Ctrl+D", "move by half a page"},
	{"g G", "first, last row"},
	{"Enter Tab", "open the file; Tab, Esc and q return to the list"},
	{"n p", "next, previous hunk, then file"},
	{"r", "set the file back to before its turn; on a turn, all its files"},
	{"h", "set only the hunk back"},
	{"u", "undo the last restore"},
	{"Esc q", "back"},
}

// helpLines are the keys, and what setting back means.
func helpLines(columns int) []ansi.Line {
	const left = 18
	lines := []ansi.Line{{{Text: " " + textHelpTitle, Style: ansi.Style{Bold: true}}}, nil}
	for _, k := range helpKeys {
		lead := ansi.Line{{Text: "  "}, {Text: k[0], Style: ansi.Style{Color: ansi.Cyan}}}
		lead = append(lead, ansi.Span{Text: strings.Repeat(" ", max(left-lead.Columns(), 1))})
		for _, line := range ansi.Wrap(ansi.Line{{Text: k[1]}}, max(columns-left-1, 12)) {
			lines = append(lines, append(lead, line...))
			lead = ansi.Line{{Text: strings.Repeat(" ", left)}}
		}
	}
	lines = append(lines, nil)
	for _, line := range wrapped(textHelpRestore, max(columns-3, 12), ansi.Style{}) {
		lines = append(lines, append(ansi.Line{{Text: "  "}}, line...))
	}
	return lines
}
