package console

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A Question is answered by the letter of a choice and Enter, or by the arrow keys and Enter. Other text that is typed
// meanwhile is a message.
type Question struct {
	Choices []KeyChoice // nil: every key is an answer, without Enter
	Again   string      // is shown after Enter without an answer
	Member  string      // the id of the member that asks; "": none
	Asks    string      // what the title of the terminal says of it, such as "Ada asks"; "": nothing

	// Waits is true if the text in the input box was typed before the question was seen: it is no answer.
	Waits bool

	// Lines is how many rows of the screen the text of the question takes, which is above the live region.
	Lines int

	unseen   bool // it was not drawn yet: a key that was pressed before is no answer
	selected int  // 1 + the index of the choice that an arrow key has selected; 0: none
	wrong    bool
	typed    *KeyChoice // the answer whose text is typed; nil: none
	before   string     // the text in the input box before it
}

// A KeyChoice is an answer to a Question.
type KeyChoice struct {
	Key    rune // lower case, or tty.KeyEscape
	Text   string
	Asks   string // the prompt for a text that belongs to the answer; "": it has none
	Secret bool   // that text is not shown
}

// answer handles a key while there is a question. The answer is the key of the choice, and after it a text.
func (m *Model) answer(k tty.Key) (Effect, string) {
	q := m.Question
	q.Waits = q.Waits || q.unseen && k.IsText()
	empty := m.Editor.Empty()
	switch {
	case q.Choices == nil:
		return Chosen, string(keyOf(k))
	case m.Search != nil:
		effect := m.search(k)
		q.Waits = !m.Editor.Empty()
		return effect, ""
	case q.typed != nil:
		return m.typeAnswer(k)
	case k == key(tty.Escape, 0), k == key('d', tty.Ctrl) && empty:
		return m.choose(q.choice(keyOf(k)))
	case k == key(tty.Tab, 0), (k == key(tty.Right, 0) || k == key(tty.Down, 0)) && (empty || q.selected > 0):
		q.selected = q.selected%len(q.Choices) + 1
		return None, ""
	case k == key(tty.Tab, tty.Shift), (k == key(tty.Left, 0) || k == key(tty.Up, 0)) && (empty || q.selected > 0):
		q.selected = (max(q.selected, 1)+len(q.Choices)-2)%len(q.Choices) + 1
		return None, ""
	case k == key(tty.Enter, 0) && q.selected > 0:
		return m.choose(&q.Choices[q.selected-1])
	case k == key(tty.Enter, 0) && (empty || m.answered() != nil):
		chosen := m.answered()
		m.Editor.Clear()
		return m.choose(chosen)
	}
	q.selected, q.wrong = 0, false
	effect, text := m.press(k)
	m.menu = menu{}
	q.Waits = q.Waits && !m.Editor.Empty()
	return effect, text
}

// keyOf returns the character that a key types, tty.KeyEscape, or '\ufffd' for the other keys.
func keyOf(k tty.Key) rune {
	switch {
	case k == key(tty.Escape, 0):
		return tty.KeyEscape
	case k.IsText():
		return rune(k.Code)
	}
	return '\ufffd'
}

// answered returns the choice whose letter is the text in the input box; nil: none.
func (m *Model) answered() *KeyChoice {
	text := strings.ToLower(strings.TrimSpace(m.Editor.Text()))
	switch text {
	case "yes", "no":
		text = text[:1]
	}
	if letter := []rune(text); len(letter) == 1 && !m.Question.Waits {
		return m.Question.choice(letter[0])
	}
	return nil
}

func (q *Question) choice(key rune) *KeyChoice {
	if i := slices.IndexFunc(q.Choices, func(c KeyChoice) bool { return c.Key == key }); i >= 0 {
		return &q.Choices[i]
	}
	return nil
}

// choose answers the question, or asks for the text of the answer. A missing choice is no answer.
func (m *Model) choose(c *KeyChoice) (Effect, string) {
	q := m.Question
	q.wrong, q.selected = c == nil, 0
	switch {
	case c == nil:
		return None, ""
	case c.Asks != "":
		q.typed, q.before = c, m.Editor.Text()
		m.Editor.Clear()
		return None, ""
	}
	return Chosen, string(c.Key)
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
	if q.typed != nil {
		return append(rows, m.styled(dim, cut(textTyped, columns)))
	}
	row, used := "", 0
	for i, c := range q.Choices {
		text := cut(c.Text, columns-2)
		name, rest, _ := strings.Cut(text, "]")
		mark, styled := "  ", m.styled(answer, name+"]")+rest
		if i == q.selected-1 {
			mark, styled = m.styled(selected, "▸ "), m.styled(selected, text)
		}
		if n := 2 + displaywidth.String(text); used > 0 && used+n > columns {
			rows, row, used = append(rows, row), mark+styled, n
		} else {
			row, used = row+mark+styled, used+n
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
