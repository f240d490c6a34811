package browse

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// A question is asked on a row: for a text, or for y or n.
type question struct {
	label string
	about string        // what is asked for y or n
	field *editor.Field // nil: for y or n
	then  func(text string) tea.Cmd
}

// ask asks a question. Its function is called with the text, or if the answer is yes.
func (a *actions) ask(q question) { a.question = &q }

// Asking reports whether a question is asked: keys and pasted text are for Answer.
func (a *actions) Asking() bool { return a.question != nil }

// Typed returns the text of the answer so far; "" if none is asked for.
func (a *actions) Typed() string {
	if a.question == nil || a.question.field == nil {
		return ""
	}
	return a.question.field.Text()
}

// Answer handles a key, or pasted text, while a question is asked. Enter or y begins the change, Escape and Ctrl+C end
// the question.
func (a *actions) Answer(msg tea.Msg) tea.Cmd {
	q := a.question
	k, ok := msg.(tea.KeyPressMsg)
	key := k.String()
	answers := ok && (q.field == nil && strings.EqualFold(key, "y") || q.field != nil && key == "enter")
	switch {
	case answers:
	case q.field != nil && (!ok || key != "esc" && key != "ctrl+c"):
		q.field.Update(msg)
		return nil
	case !ok:
		return nil
	}
	text := a.Typed()
	if a.question = nil; !answers {
		return nil
	}
	return q.then(text)
}

// Line returns the question in a row of so many columns, and the column of the cursor in it.
func (a *actions) Line(columns int) (row ansi.Line, cursor int) {
	q := a.question
	row = ansi.Line{{Text: " "}, {Text: q.label, Style: ansi.Style{Color: ansi.Cyan}}}
	at := row.Columns()
	if q.field == nil {
		return append(row, ansi.Span{Text: q.about}), max(min(at, columns-1), 0)
	}
	text, cursor := q.field.View(max(columns-at, 1))
	return append(row, ansi.Span{Text: text}), max(min(at+cursor, columns-1), 0)
}
