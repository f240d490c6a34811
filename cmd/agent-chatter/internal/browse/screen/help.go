package screen

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// helpKeys are the keys and what they do, in groups.
var helpKeys = [][][2]string{
	{
		{"↑ ↓ j k", "select a session"},
		{"PgUp PgDn Ctrl+U Ctrl+D", "move by a page, by half a page"},
		{"g G", "first, last"},
		{"Enter", "resume the session"},
		{"Tab → l", "read the preview; Tab ← h Esc return to the list"},
		{"t", "the turns of the session, and what it was like at each; Enter continues there in a fork"},
		{"Esc", "end the search, remove the filter, quit"},
		{"q", "quit"},
	},
	{
		{"/", "search titles, ids, teams, directories and messages"},
		{"n N", "next, previous message with the text"},
		{"1 2 3 4", "all, live, archived, damaged sessions"},
		{"T", "only the team of the selected session, or all"},
		{".", "only the directory of the selected session, or all"},
		{"s", "order: updated, created, messages, title"},
		{"Space", "mark a session"},
		{"D", "compare two marked sessions, or a marked one and the selected one"},
	},
}

// helpLines are the page of keys.
func (m *model) helpLines() []ansi.Line {
	lines := []ansi.Line{{plain(" "), bold("Keys")}, {}}
	for _, group := range helpKeys {
		for _, k := range group {
			key := accent(k[0])
			pad := max(26-ansi.Line{key}.Columns(), 1)
			lines = append(lines, ansi.Line{plain("  "), key, plain(strings.Repeat(" ", pad)), plain(k[1])})
		}
		lines = append(lines, ansi.Line{})
	}
	signs := ansi.Line{
		plain("  "), colored("●", ansi.Green), plain(" live  "), colored("★", ansi.Yellow), plain(" pinned  "),
		dim("▪"), plain(" archived  "), colored("⚠", ansi.Yellow), plain(" incomplete or newer  "),
		colored("✗", ansi.Red), plain(" damaged  "), colored("◆", ansi.Magenta), plain(" marked"),
	}
	return append(lines, signs, ansi.Line{}, ansi.Line{plain("  "), dim("Any key returns to the list.")})
}
