package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// bindings are the keys that edit.
var bindings = map[tty.Key]func(*Editor){
	{Code: tty.Left}:                func(e *Editor) { e.move(e.at - 1) },
	{Code: 'b', Mod: tty.Ctrl}:      func(e *Editor) { e.move(e.at - 1) },
	{Code: tty.Right}:               func(e *Editor) { e.move(e.at + 1) },
	{Code: 'f', Mod: tty.Ctrl}:      func(e *Editor) { e.move(e.at + 1) },
	{Code: tty.Home}:                func(e *Editor) { e.move(e.lineStart()) },
	{Code: 'a', Mod: tty.Ctrl}:      func(e *Editor) { e.move(e.lineStart()) },
	{Code: tty.End}:                 func(e *Editor) { e.move(e.lineEnd()) },
	{Code: 'e', Mod: tty.Ctrl}:      func(e *Editor) { e.move(e.lineEnd()) },
	{Code: tty.Home, Mod: tty.Ctrl}: func(e *Editor) { e.move(0) },
	{Code: tty.End, Mod: tty.Ctrl}:  func(e *Editor) { e.move(len(e.cells)) },

	{Code: tty.Left, Mod: tty.Ctrl}:  func(e *Editor) { e.move(e.wordStart()) },
	{Code: 'b', Mod: tty.Alt}:        func(e *Editor) { e.move(e.wordStart()) },
	{Code: tty.Right, Mod: tty.Ctrl}: func(e *Editor) { e.move(e.wordEnd()) },
	{Code: 'f', Mod: tty.Alt}:        func(e *Editor) { e.move(e.wordEnd()) },
	{Code: tty.Left, Mod: tty.Alt}:   func(e *Editor) { e.move(e.wordStart()) },
	{Code: tty.Right, Mod: tty.Alt}:  func(e *Editor) { e.move(e.wordEnd()) },

	{Code: tty.Up}:             (*Editor).up,
	{Code: 'p', Mod: tty.Ctrl}: (*Editor).up,
	{Code: tty.Down}:           (*Editor).down,
	{Code: 'n', Mod: tty.Ctrl}: (*Editor).down,

	{Code: tty.Backspace}:                 func(e *Editor) { e.remove(e.at-1, e.at) },
	{Code: 'h', Mod: tty.Ctrl}:            func(e *Editor) { e.remove(e.at-1, e.at) },
	{Code: tty.Backspace, Mod: tty.Shift}: func(e *Editor) { e.remove(e.at-1, e.at) },
	{Code: tty.Delete}:                    func(e *Editor) { e.remove(e.at, e.at+1) },
	{Code: 'd', Mod: tty.Ctrl}:            func(e *Editor) { e.remove(e.at, e.at+1) },

	{Code: tty.Backspace, Mod: tty.Alt}:  func(e *Editor) { e.kill(e.wordStart(), e.at) },
	{Code: tty.Backspace, Mod: tty.Ctrl}: func(e *Editor) { e.kill(e.wordStart(), e.at) },
	{Code: 'd', Mod: tty.Alt}:            func(e *Editor) { e.kill(e.at, e.wordEnd()) },
	{Code: tty.Delete, Mod: tty.Ctrl}:    func(e *Editor) { e.kill(e.at, e.wordEnd()) },
	{Code: 'w', Mod: tty.Ctrl}:           func(e *Editor) { e.kill(e.blankStart(), e.at) },
	{Code: 'u', Mod: tty.Ctrl}:           func(e *Editor) { e.kill(e.lineStart(), e.at) },
	{Code: 'k', Mod: tty.Ctrl}:           (*Editor).killToEnd,
	{Code: 'y', Mod: tty.Ctrl}:           (*Editor).yank,

	{Code: '_', Mod: tty.Ctrl}: (*Editor).takeBack,

	{Code: 'j', Mod: tty.Ctrl}:        (*Editor).newLine,
	{Code: tty.Enter, Mod: tty.Shift}: (*Editor).newLine,
	{Code: tty.Enter, Mod: tty.Alt}:   (*Editor).newLine,
	{Code: tty.Enter, Mod: tty.Ctrl}:  (*Editor).newLine,
}

// Press runs the binding of a key. It reports whether there is one.
func (e *Editor) Press(key tty.Key) bool {
	run := bindings[key]
	if run == nil {
		return false
	}
	run(e)
	return true
}

// Continue replaces a backslash at the end of the text by a line break, as Enter does then. It reports
// whether there is one.
func (e *Editor) Continue() bool {
	if n := len(e.cells); n == 0 || e.at != n || e.cells[n-1].text != "\\" {
		return false
	}
	e.change()
	e.replace(e.at-1, e.at, []cell{lineBreak})
	return true
}

func (e *Editor) newLine() {
	e.change()
	e.replace(e.at, e.at, []cell{lineBreak})
}

func (e *Editor) move(to int) {
	e.at = min(max(to, 0), len(e.cells))
	e.goal, e.typing, e.killing = 0, false, false
}

func (e *Editor) remove(from, to int) {
	if from = max(from, 0); from >= min(to, len(e.cells)) {
		return
	}
	e.change()
	e.replace(from, min(to, len(e.cells)), nil)
}

// kill removes cells for Ctrl+Y. Cells that are killed one after another are inserted together.
func (e *Editor) kill(from, to int) {
	if from >= to {
		return
	}
	cut, before := e.cells[from:to], from < e.at
	switch {
	case !e.killing:
		e.killed = cut
	case before:
		e.killed = slices.Concat(cut, e.killed)
	default:
		e.killed = slices.Concat(e.killed, cut)
	}
	e.change()
	e.replace(from, to, nil)
	e.killing = true
}

// killToEnd kills the rest of the line, or the line break if the cursor is before it.
func (e *Editor) killToEnd() {
	end := e.lineEnd()
	if end == e.at && end < len(e.cells) {
		end++
	}
	e.kill(e.at, end)
}

func (e *Editor) yank() {
	if len(e.killed) > 0 {
		e.change()
		e.replace(e.at, e.at, e.killed)
	}
}

// takeBack undoes the last change.
func (e *Editor) takeBack() {
	if n := len(e.undo); n > 0 {
		e.text, e.undo = e.undo[n-1], e.undo[:n-1]
		e.goal, e.typing, e.killing = 0, false, false
	}
}

func (e *Editor) lineStart() int {
	at := e.at
	for at > 0 && e.cells[at-1] != lineBreak {
		at--
	}
	return at
}

func (e *Editor) lineEnd() int {
	at := e.at
	for at < len(e.cells) && e.cells[at] != lineBreak {
		at++
	}
	return at
}

// inWord reports whether a cell is a part of a word.
func inWord(c cell) bool {
	first, _ := utf8.DecodeRuneInString(c.text)
	return c.lines > 0 || first == '_' || unicode.IsLetter(first) || unicode.IsDigit(first)
}

func (e *Editor) wordStart() int {
	at := e.at
	for at > 0 && !inWord(e.cells[at-1]) {
		at--
	}
	for at > 0 && inWord(e.cells[at-1]) {
		at--
	}
	return at
}

func (e *Editor) wordEnd() int {
	at := e.at
	for at < len(e.cells) && !inWord(e.cells[at]) {
		at++
	}
	for at < len(e.cells) && inWord(e.cells[at]) {
		at++
	}
	return at
}

// blankStart returns the start of the word before the cursor, which only blanks end.
func (e *Editor) blankStart() int {
	blank := func(c cell) bool { return c.lines == 0 && strings.TrimSpace(c.text) == "" }
	at := e.at
	for at > 0 && blank(e.cells[at-1]) {
		at--
	}
	for at > 0 && !blank(e.cells[at-1]) {
		at--
	}
	return at
}

// up moves to the row above, or recalls the previous message.
func (e *Editor) up() {
	if e.moveRow(-1) || e.recalled == 0 {
		return
	}
	if e.recalled == len(e.history) {
		e.draft = e.text
	}
	e.recall(e.recalled - 1)
}

// down moves to the row below, or recalls the next message.
func (e *Editor) down() {
	if !e.moveRow(1) && e.recalled < len(e.history) {
		e.recall(e.recalled + 1)
	}
}

func (e *Editor) recall(n int) {
	e.change()
	e.recalled = n
	if n == len(e.history) {
		e.text = e.draft
		return
	}
	e.cells = pasted(e.history[n])
	e.at = len(e.cells)
}
