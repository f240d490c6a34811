package browse

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
		{"t", "the turns of the session; Enter continues in a fork"},
		{"v", "what its turns changed in files; set it back"},
		{"f r p", "copy (fork), rename, pin or unpin the session"},
		{"d u", "move the session to the trash; undo the last change"},
		{"e y", "export the session to a file; copy its id"},
		{"Esc", "end the search, remove the filter, quit"},
		{"q", "quit"},
	},
	{
		{"/", "search titles, ids, teams, directories and messages"},
		{"n N", "next, previous message with the text"},
		{"1 2 3 4 5", "all, live, archived, damaged sessions; the trash"},
		{"T", "only the team of the selected session, or all"},
		{".", "only the directory of the selected session, or all"},
		{"s", "order: updated, created, messages, title"},
		{"Space", "mark a session"},
		{"D", "compare two marked, or one marked and the selected"},
	},
}

const leastHelp = 16 // columns of what a key does

// helpLines are the keys and the signs.
func (m *model) helpLines() []ansi.Line {
	lines := []ansi.Line{{plain(" "), bold("Keys")}, {}}
	for _, group := range helpKeys {
		for _, k := range group {
			key := accent(k[0])
			pad := max(26-ansi.Line{key}.Columns(), 1)
			before := ansi.Line{plain("  "), key, plain(strings.Repeat(" ", pad))}
			for _, text := range ansi.Wrap(ansi.Line{plain(k[1])}, max(m.columns-before.Columns()-1, leastHelp)) {
				lines = append(lines, append(before, text...))
				before = ansi.Line{plain(strings.Repeat(" ", before.Columns()))}
			}
		}
		lines = append(lines, ansi.Line{})
	}
	signs := ansi.Line{
		plain("  "), colored("●", ansi.Green), plain(" live  "), colored("★", ansi.Yellow), plain(" pinned  "),
		dim("▪"), plain(" archived  "), dim("○"), plain(" on the hub  "), accent("↓"), plain(" being fetched  "),
		colored("⚠", ansi.Yellow), plain(" incomplete or newer  "),
		colored("✗", ansi.Red), plain(" damaged  "), colored("◆", ansi.Magenta), plain(" marked"),
	}
	for _, line := range ansi.Wrap(signs[1:], max(m.columns-3, leastHelp)) {
		lines = append(lines, append(ansi.Line{plain("  ")}, line...))
	}
	return append(lines, ansi.Line{})
}

// helpRows is how many of the lines fit above the last row.
func (m *model) helpRows() int { return max(m.rows-1, 1) }

// drawHelp returns the rows of a part of the help, which begins with the line helpTop.
func (m *model) drawHelp() []string {
	lines := m.helpLines()
	rows := m.encode(lines[min(m.helpTop, len(lines)):], m.columns, m.helpRows())
	last := "Any key returns to the list."
	if m.helpTop+m.helpRows() < len(lines) {
		last = "Any key shows more, Esc returns."
	}
	return append(rows, m.encodeLine(ansi.Line{plain("  "), dim(last)}, m.columns))[:max(m.rows, 1)]
}

// pressHelping shows the next part of the help, or returns to the list.
func (m *model) pressHelping(key string) {
	m.helpTop += m.helpRows()
	if key == "esc" || key == "q" || key == "ctrl+c" || m.helpTop >= len(m.helpLines()) {
		m.mode = choosing
	}
}
