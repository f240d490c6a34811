package console

import (
	"strings"
	"time"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// An Effect is what the Console has to do after an event.
type Effect int

// The effects.
const (
	None         Effect = iota
	Sent                // a message or a command was entered
	Cancel              // interrupt the agent
	End                 // cancel the turn, or end the conversation
	Suspend             // stop the program until the shell continues it
	Clear               // draw on an empty screen
	Extern              // edit the text in $EDITOR
	Output              // show the tool calls
	Chosen              // the question was answered
	Find                // search the earlier messages
	TakeBack            // edit what was queued last
	PastePicture        // paste the picture of the clipboard
)

// A Model is the state of a conversation on a terminal.
type Model struct {
	Transcript *view.Transcript // nil: what is said is not shown
	Style      view.Style       // of the transcript; its Width is that of the terminal
	Mark       string           // before each line of the transcript
	OnlyShows  bool             // there is no input box

	Editor  editor.Editor
	Status  Status
	Panel   Panel          // of turns that run at the same time
	Sources editor.Sources // of the menu
	// Pasted returns how the input box shows a pasted path of a picture; false: the text is none. nil: all is text.
	Pasted func(text string) (label string, ok bool)
	Prompt string     // before the input box while a human is next
	Queued []tty.Line // what was entered while agents speak
	Shared []tty.Line // what is queued in the process that hosts the conversation, if that is another one
	// TakeShared takes one of Shared back and returns its text; ok is false if it was sent. nil: there are none.
	TakeShared func(id string) (text string, ok bool)

	Parked bool // the cursor of the terminal is not at the caret, which is a reversed cell then

	Question *Question // nil: none
	Search   *Search   // of earlier messages; nil: none

	asks   bool         // a command such as /resume waits for a line
	sends  bool         // what was entered is sent now
	leaves bool         // Ctrl+C was just pressed, and once more leaves
	stops  bool         // Escape has just stopped a turn of the panel, and once more stops all
	page   *page        // on the whole terminal; nil: none
	calls  *callList    // below the page; nil: none
	shown  *shownAnswer // to a command; nil: none
	menu   menu
	closed string // the text for which Escape has closed the menu
}

// Update handles an event of the terminal. text is what was entered, for Sent, or the answer, for Chosen.
func (m *Model) Update(e tty.Event) (effect Effect, text string) {
	switch e := e.(type) {
	case tty.Paste:
		if m.Search != nil {
			m.Search.add(tty.SafeLine(e.Text))
			return Find, ""
		}
		if q := m.Question; q != nil {
			if q.Choices == nil {
				break
			}
			q.Waits, q.selected, q.wrong = q.Waits || q.unseen, 0, false
		}
		if m.Pasted != nil {
			if label, ok := m.Pasted(e.Text); ok && m.Question == nil {
				e.Text = label + " "
			}
		}
		m.Editor.Paste(e.Text)
		m.complete()
	case tty.Key:
		m.leaves = m.leaves && e == key('c', tty.Ctrl)
		switch {
		case m.page != nil:
			return m.pressPage(e), ""
		case m.calls != nil:
			m.pressCalls(e)
			return None, ""
		case e == key('c', tty.Ctrl):
			return m.interrupt(), ""
		case e == key('l', tty.Ctrl):
			return Clear, ""
		case e == key('z', tty.Ctrl):
			return Suspend, ""
		case m.answers() && e == key(tty.Escape, 0):
			m.shown = nil
			return None, ""
		case m.Question != nil:
			return m.answer(e)
		case m.Search != nil:
			return m.search(e), ""
		case m.menu.open() && m.menuKey(e), m.panelChooses() && m.Panel.choose(e):
			return None, ""
		}
		return m.press(e)
	}
	return None, ""
}

// modal reports whether keys that type text may be no text.
func (m *Model) modal() bool { return m.Question != nil || m.Search != nil || m.whole() }

// whole reports whether something is shown on the whole terminal.
func (m *Model) whole() bool { return m.page != nil || m.calls != nil }

func key(code tty.Code, mod tty.Mod) tty.Key { return tty.Key{Code: code, Mod: mod} }

// interrupt is Ctrl+C: it clears typed text, then ends the question of a command, else the turn or the conversation.
func (m *Model) interrupt() Effect {
	switch {
	case m.Search != nil:
		m.Search = nil
		return None
	case m.asks && m.Editor.Empty():
		return Sent // an empty line
	case m.Question != nil && m.Question.Choices == nil, m.Editor.Empty():
		return End
	}
	if m.Editor.Clear(); m.Question != nil {
		m.Question.Waits = false
	}
	m.complete()
	return None
}

// Type inserts typed text.
func (m *Model) Type(text string) {
	m.Editor.Type(text)
	m.complete()
}

// press handles a key in the input box.
func (m *Model) press(k tty.Key) (Effect, string) {
	switch k {
	case key(tty.Enter, 0):
		if m.Editor.Continue() {
			break
		}
		text := m.Editor.Take()
		m.shown = nil
		m.complete()
		return Sent, text
	case key(tty.Escape, 0):
		if m.asks {
			m.Editor.Clear()
			return Sent, ""
		}
		return Cancel, ""
	case key(tty.Up, 0):
		if m.Editor.Empty() && len(m.Queued)+len(m.Shared) > 0 {
			return TakeBack, ""
		}
		m.Editor.Press(k)
	case key('d', tty.Ctrl):
		if m.Editor.Empty() {
			return Sent, endOfInput
		}
		m.Editor.Press(k)
	case key('g', tty.Ctrl):
		return Extern, ""
	case key('o', tty.Ctrl):
		return Output, ""
	case key('v', tty.Ctrl):
		return PastePicture, ""
	case key('r', tty.Ctrl):
		m.Search = &Search{}
		return Find, ""
	case key(tty.Tab, 0):
		m.closed = ""
	default:
		if k.IsText() {
			m.Editor.Type(string(rune(k.Code)))
		} else {
			m.Editor.Press(k)
		}
	}
	m.complete()
	return None, ""
}

// endOfInput is what Ctrl+D enters.
const endOfInput = "\x04"

// Return puts what was entered, but not sent, back into the input box.
func (m *Model) Return(entered []string) {
	kept := entered[:0]
	for _, text := range append(entered, m.Editor.Text()) {
		if text != endOfInput && text != "" {
			kept = append(kept, text)
		}
	}
	m.Editor.Set(strings.Join(kept, "\n"))
	m.complete()
}

// style returns the style of the transcript on a terminal of so many columns.
func (m *Model) style(columns int) view.Style {
	s := m.Style
	s.Width = max(columns-displaywidth.String(m.Mark), 1)
	return s
}

// lines renders blocks for a terminal of so many columns.
func (m *Model) lines(blocks []view.Block, columns int) (lines []string) {
	for _, b := range blocks {
		for _, line := range view.Render(b, m.style(columns)) {
			if line == "" {
				lines = append(lines, strings.TrimRight(m.Mark, " "))
			} else {
				lines = append(lines, m.Mark+line)
			}
		}
	}
	return lines
}

// Held returns the lines of what is being said, and lines to print before them although they may change: at most half
// of the screen is held. It returns nothing while there is a question about an agent: what the agent says must not be
// taken for a part of it.
func (m *Model) Held(columns, rows int) (early, held []string) {
	if m.Transcript == nil || m.Question != nil && m.Question.Choices != nil {
		return nil, nil
	}
	if shown := m.Panel.shown(); shown != nil {
		return nil, m.lines(m.Transcript.Preview(shown.turn, m.style(columns), rows/2+1), columns) // named cuts them
	}
	early = m.lines(m.Transcript.Release(m.style(columns), rows/2), columns)
	return early, m.lines(m.Transcript.Held(), columns)
}

// Live returns the rows of the live region for a screen of so many columns and rows, and where the caret is in them;
// nil: it is not shown. held are the rows of what is being said.
func (m *Model) Live(width, height int, held []string, now time.Time) ([]string, *tty.Caret) {
	columns := max(width-1, 1) // the last column stays empty: after it is filled, terminals differ
	if m.OnlyShows {
		rows := append([]string{}, held[max(0, len(held)-height/2):]...)
		switch {
		case m.Panel.running() > 0:
			rows = append(append(rows, ""), m.panelRows(statusColumns(columns), now)...)
		case m.Status.Doing != "":
			rows = append(rows, "", m.statusRow(columns, now))
		}
		return rows, nil
	}
	below := []string{}
	if m.answers() {
		below = m.answerRows(columns, m.answerLimit(height))
	}
	switch {
	case m.Question != nil:
		below = append(below, m.questionRows(columns, height)...)
	case m.menu.open():
		below = m.menuRows(columns, max(1, height/3))
	}
	if m.Search != nil {
		below = append(below, m.searchRows(columns, max(1, height/3))...)
	}
	below = append(below, m.queuedRows(columns)...)
	below = append(below, m.panelRows(statusColumns(columns), now)...)
	below = append(below, m.statusRow(columns, now))
	input, caret := m.inputRows(columns, max(1, height/3))
	room := height - 1 - len(input) - len(below)
	held = m.Panel.named(held, max(0, min(room, height/2)), func(name string) string { return m.styled(dim, name) })
	rows := append([]string{}, held...)
	if room > len(held) {
		rows = append(rows, "") // between what has been said and the input box
	}
	caret.Row += len(rows)
	rows = append(append(rows, input...), below...)
	rows = rows[:min(len(rows), max(1, height-1))]
	if caret.Row >= len(rows) {
		return rows, nil
	}
	if m.Parked {
		return rows, nil
	}
	return rows, &caret
}

// reversed returns a text with the cell at a column reversed.
func reversed(text string, column int) string {
	const reverse, unreverse = "\x1b[7m", "\x1b[27m"
	before := displaywidth.TruncateString(text, column, "")
	cell, rest := " ", text[len(before):]
	if g := displaywidth.StringGraphemes(rest); g.Next() {
		cell = g.Value()
		rest = rest[len(cell):]
	}
	return before + reverse + cell + unreverse + rest
}

// statusRow returns the last row: what an agent does, or what the keys do.
func (m *Model) statusRow(columns int, now time.Time) string {
	columns = statusColumns(columns)
	switch {
	case m.leaves:
		return m.styled(yellow, cut(textLeaves, columns))
	case m.Question != nil && m.Question.Choices != nil && m.Question.typed == nil && m.Status.Unsaved == "":
		if !m.Editor.Empty() && m.answered() == nil {
			return m.styled(yellow, cut(textNoAnswer, columns))
		}
		return m.styled(dim, cut(textChooses, columns))
	case (m.Question != nil || m.asks) && m.Status.Unsaved == "":
		return m.styled(dim, cut(textWaits, columns))
	case m.menu.open() && m.Search == nil && m.Status.Doing == "" && m.Status.Unsaved == "":
		return m.styled(dim, cut(menuText(m.menu.selected+1, len(m.menu.choices)), columns))
	}
	status := m.Status
	status.Escape = status.Escape && !m.answers() // which Escape closes first
	if m.Panel.running() > 0 {
		status.Doing, status.hints = "", m.panelHints()
	}
	return status.row(columns, m.styled, now)
}

// placeholder says what can be typed into an empty input box. Without colours it would look like text.
func (m *Model) placeholder() string {
	switch {
	case !m.colored() || !m.Editor.Empty() || m.Question != nil || m.Search != nil:
		return ""
	case m.Prompt != "":
		return textNextMessage
	case m.Status.Doing != "", m.Panel.running() > 0:
		return textTypeAhead
	}
	return ""
}

// inputRows returns the rows of the input box, and where the caret is in them.
func (m *Model) inputRows(columns, limit int) ([]string, tty.Caret) {
	prompt := m.prompt()
	if w := displaywidth.String(prompt); w > columns/2 {
		prompt = busyPrompt
	}
	indent := displaywidth.String(prompt)
	m.Editor.Width = max(columns-indent-1, 1)
	v := m.Editor.View(limit)
	if m.Search != nil {
		v = oneRow(displaywidth.TruncateString(tty.SafeLine(m.Search.Text), m.Editor.Width, ""))
	}
	if q := m.Question; q != nil && q.typed != nil && q.typed.Secret {
		v = oneRow(strings.Repeat("•", min(utf8.RuneCountInString(m.Editor.Text()), m.Editor.Width-1)))
	}
	if m.Parked {
		v.Rows[v.Caret.Row] = reversed(v.Rows[v.Caret.Row], v.Caret.Column)
	}
	if text := m.placeholder(); text != "" {
		if !m.Parked {
			v.Rows[0] = " "
		}
		v.Rows[0] += m.styled(dim, cut(text, m.Editor.Width))
	}
	for i, text := range v.Rows {
		lead := strings.Repeat(" ", indent)
		switch {
		case i == 0 && v.Above > 0:
			lead = m.styled(dim, "↑"+strings.Repeat(" ", indent-1))
		case i == 0:
			lead = m.styled(bold, prompt)
		case i == len(v.Rows)-1 && v.Below > 0:
			lead = m.styled(dim, "↓"+strings.Repeat(" ", indent-1))
		}
		v.Rows[i] = lead + text
	}
	v.Caret.Column += indent
	return v.Rows, v.Caret
}

// oneRow returns the view of a text with the cursor at its end.
func oneRow(text string) editor.View {
	return editor.View{Rows: []string{text}, Caret: tty.Caret{Column: displaywidth.String(text)}}
}

// busyPrompt is before the input box while no human is next: what is entered is queued.
const busyPrompt = "> "

func (m *Model) prompt() string {
	switch {
	case m.Question != nil && m.Question.typed != nil:
		return m.Question.typed.Asks + "> "
	case m.Search != nil:
		return "search> "
	case m.Question != nil, m.Prompt == "":
		return busyPrompt
	}
	return m.Prompt
}

// queued returns Queued, with the command that Ctrl+D is.
func (m *Model) queued() (texts []string) {
	for _, line := range m.Queued {
		if line.Text == endOfInput {
			line.Text = "/end"
		}
		texts = append(texts, line.Text)
	}
	return texts
}

// shownQueued is how many messages are shown that no agent has read.
const shownQueued = 3

// queuedRows shows the messages that no agent has read yet.
func (m *Model) queuedRows(columns int) (rows []string) {
	if m.sends {
		return nil
	}
	var texts []string
	if m.Transcript != nil {
		for _, said := range m.Transcript.Waiting() {
			if said.Speaker.Type == projection.TypeHuman {
				texts = append(texts, sentText(runecut.Prefix(said.Content, maxRow)))
			}
		}
	}
	for _, line := range m.Shared {
		texts = append(texts, queuedText(runecut.Prefix(line.Text, maxRow)))
	}
	for _, text := range m.queued() {
		texts = append(texts, queuedText(runecut.Prefix(text, maxRow)))
	}
	for i, text := range texts {
		if i == shownQueued {
			text = moreQueuedText(len(texts) - i)
		}
		if i <= shownQueued {
			rows = append(rows, m.styled(dim, cut(text, columns)))
		}
	}
	return rows
}

// The styles of the live region.
var (
	bold     = ansi.Style{Bold: true}
	dim      = ansi.Style{Dim: true}
	red      = ansi.Style{Color: ansi.Red}
	yellow   = ansi.Style{Color: ansi.Yellow}
	answer   = ansi.Style{Color: ansi.Yellow, Bold: true}
	selected = ansi.Style{Color: ansi.Cyan, Bold: true}
)

func (m *Model) colored() bool { return m.Style.Profile != ansi.NoColor }

func (m *Model) styled(style ansi.Style, text string) string {
	return m.Style.Profile.Style(style, text)
}

// maxRow is how many bytes of a long text are looked at for a row.
const maxRow = 4 << 10

// cut cuts a text to columns.
func cut(text string, columns int) string {
	return displaywidth.TruncateString(text, max(columns, 1), "…")
}
