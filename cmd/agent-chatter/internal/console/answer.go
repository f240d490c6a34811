package console

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A shownAnswer is what a command has printed. It is shown below the input box, until Escape or what is entered next
// closes it.
type shownAnswer struct {
	command string
	lines   []string // as a terminal takes them
}

// An Answer takes what a command prints on a terminal. It is not safe for concurrent use.
type Answer struct {
	console *Console
	command string
	text    strings.Builder
}

// Answer returns an Answer to a command.
func (c *Console) Answer(command string) *Answer { return &Answer{console: c, command: command} }

// Fd returns the file descriptor of the terminal.
func (a *Answer) Fd() uintptr { return a.console.Fd() }

// Write implements io.Writer. It never fails.
func (a *Answer) Write(p []byte) (int, error) {
	a.text.Write(p)
	return len(p), nil
}

// Show shows the text, unless it is empty.
func (a *Answer) Show() {
	text, _ := tty.EscapeControls([]byte(strings.Trim(a.text.String(), "\n")))
	if len(text) == 0 {
		return
	}
	_, rows := a.console.screen.Size()
	a.console.Change(func(m *Model) { m.ShowAnswer(a.command, strings.Split(string(text), "\n"), rows) })
}

// ShowAnswer shows the answer to a command on a screen of so many rows: on a page if it takes more than half of it,
// unless a person types already.
func (m *Model) ShowAnswer(command string, lines []string, rows int) {
	if len(lines) >= rows/2 && m.Editor.Empty() {
		m.page = &page{render: func(int) []string { return lines }}
		return
	}
	m.shown = &shownAnswer{command, lines}
}

// answers reports whether the answer to a command is on the screen.
func (m *Model) answers() bool { return m.shown != nil && m.Search == nil && !m.menu.open() }

// answerLimit returns how many rows the answer takes at most. A question has to fit below it.
func (m *Model) answerLimit(height int) int {
	if m.Question != nil {
		return max(2, height/4)
	}
	return max(2, height/2)
}

// answerRows returns at most limit rows of the answer.
func (m *Model) answerRows(columns, limit int) []string {
	rows := []string{m.styled(bold, cut(tty.SafeLine(m.shown.command), columns-displaywidth.String(textCloses))) +
		m.styled(dim, cut(textCloses, columns))}
	lines := m.shown.lines
	if more := len(lines) - (limit - 1); more > 0 {
		lines = lines[:max(limit-2, 0)]
		more = len(m.shown.lines) - len(lines)
		return append(append(rows, lines...), m.styled(dim, cut("… "+app.Count(more, "more line"), columns)))
	}
	return append(rows, lines...)
}
