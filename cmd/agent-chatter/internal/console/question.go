package console

import (
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A Question is answered by a key.
type Question struct {
	Choices []KeyChoice // what the keys mean; nil: every key is an answer
	Again   string      // is shown after a key that neither is an answer nor types text

	// Waits is true if text was being typed when the question came, or was begun by a key that is no answer, such as
	// the / of a command. Until Tab is pressed, keys edit that text, so that a letter of it is no answer.
	Waits bool

	// Lines is how many rows of the screen the text of the question takes, which is above the live region.
	Lines int

	unseen bool // it was not drawn yet: a key that was pressed before is no answer
	wrong  bool
	typed  *KeyChoice // the answer whose text is typed; nil: none
	before string     // the text in the input box before it
}

// A KeyChoice is an answer to a Question.
type KeyChoice struct {
	Key    rune // lower case, or tty.KeyEscape
	Text   string
	Asks   string // the prompt for a text that belongs to the answer; "": it has none
	Secret bool   // that text is not shown
}

// takesKeys reports whether keys are answers.
func (q *Question) takesKeys() bool { return !q.Waits && q.typed == nil }

// answer handles a key while there is a question. The answer is the key, and after it a text.
func (m *Model) answer(k tty.Key) (Effect, string) {
	q := m.Question
	q.Waits = q.Waits || q.unseen && k.IsText()
	switch {
	case q.Waits && m.Search != nil:
		return m.search(k), ""
	case q.Waits && k == key(tty.Tab, 0):
		q.Waits = false
		return None, ""
	case q.Waits && k != key(tty.Enter, 0) && k != key(tty.Escape, 0):
		m.press(k)
		m.menu = menu{}
		return None, ""
	case q.Waits && k == key(tty.Enter, 0):
		return m.press(k)
	case q.typed != nil:
		return m.typeAnswer(k)
	}
	pressed := rune(k.Code)
	if k == key(tty.Escape, 0) {
		pressed = tty.KeyEscape
	} else if !k.IsText() {
		pressed = '\ufffd'
	}
	if q.Choices == nil {
		return Chosen, string(pressed)
	}
	for _, c := range q.Choices {
		if c.Key != pressed && (pressed > 0x7f || c.Key != pressed|0x20) {
			continue
		}
		if c.Asks != "" {
			q.typed, q.before = &c, m.Editor.Text()
			m.Editor.Clear()
			return None, ""
		}
		return Chosen, string(c.Key)
	}
	if k.IsText() {
		q.Waits, q.wrong = true, false
		m.Type(string(pressed))
		m.menu = menu{}
		return None, ""
	}
	q.wrong = true
	return None, ""
}

func (m *Model) typeAnswer(k tty.Key) (Effect, string) {
	typed := m.Question.typed.Key
	switch k {
	case key(tty.Escape, 0):
		m.endTyped()
	case key(tty.Enter, 0):
		if text := strings.TrimSpace(m.Editor.Text()); text != "" {
			m.endTyped()
			return Chosen, string(typed) + text
		}
	default:
		if k.IsText() {
			m.Editor.Type(string(rune(k.Code)))
		} else {
			m.Editor.Press(k)
		}
	}
	return None, ""
}

// endTyped gives the input box back to the text before the one of an answer, if one was being typed.
func (m *Model) endTyped() {
	if q := m.Question; q != nil && q.typed != nil {
		m.Editor.Set(q.before)
		q.typed = nil
	}
}

// questionRows lists the choices, as many in a row as fit.
func (m *Model) questionRows(columns, height int) (rows []string) {
	q := m.Question
	if q.Lines > height/2 {
		rows = []string{m.styled(yellow, cut(longQuestionText(q.Lines), columns))}
	}
	switch {
	case q.Waits:
		return append(rows, m.styled(yellow, cut(textTabAnswers, columns)))
	case q.typed != nil:
		return append(rows, m.styled(dim, cut(textTyped, columns)))
	}
	row, used := "", 0
	for _, c := range q.Choices {
		text := cut(c.Text, columns)
		name, rest, _ := strings.Cut(text, "]")
		styled := m.styled(bold+yellow, name+"]") + rest
		switch n := displaywidth.String(text); {
		case used > 0 && used+2+n > columns:
			rows, row, used = append(rows, row), styled, n
		case used > 0:
			row, used = row+"  "+styled, used+2+n
		default:
			row, used = styled, n
		}
	}
	if row != "" {
		rows = append(rows, row)
	}
	if q.wrong {
		rows = append(rows, cut(q.Again, columns))
	}
	return rows
}
