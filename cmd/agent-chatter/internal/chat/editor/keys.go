package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// bindings are the keys that edit, as package tty names them.
var bindings = map[string]func(*Editor){
	"left": func(e *Editor) { e.move(e.at - 1) }, "ctrl+b": func(e *Editor) { e.move(e.at - 1) },
	"right": func(e *Editor) { e.move(e.at + 1) }, "ctrl+f": func(e *Editor) { e.move(e.at + 1) },
	"home": func(e *Editor) { e.move(e.lineStart()) }, "ctrl+a": func(e *Editor) { e.move(e.lineStart()) },
	"end": func(e *Editor) { e.move(e.lineEnd()) }, "ctrl+e": func(e *Editor) { e.move(e.lineEnd()) },
	"ctrl+home": func(e *Editor) { e.move(0) }, "ctrl+end": func(e *Editor) { e.move(len(e.cells)) },

	"ctrl+left": func(e *Editor) { e.move(e.wordStart()) }, "alt+b": func(e *Editor) { e.move(e.wordStart()) },
	"ctrl+right": func(e *Editor) { e.move(e.wordEnd()) }, "alt+f": func(e *Editor) { e.move(e.wordEnd()) },
	"alt+left": func(e *Editor) { e.move(e.wordStart()) }, "alt+right": func(e *Editor) { e.move(e.wordEnd()) },

	"up": (*Editor).up, "ctrl+p": (*Editor).up, "down": (*Editor).down, "ctrl+n": (*Editor).down,

	"backspace": func(e *Editor) { e.remove(e.at-1, e.at) }, "ctrl+h": func(e *Editor) { e.remove(e.at-1, e.at) },
	"shift+backspace": func(e *Editor) { e.remove(e.at-1, e.at) },
	"delete":          func(e *Editor) { e.remove(e.at, e.at+1) }, "ctrl+d": func(e *Editor) { e.remove(e.at, e.at+1) },

	"alt+backspace":  func(e *Editor) { e.kill(e.wordStart(), e.at) },
	"ctrl+backspace": func(e *Editor) { e.kill(e.wordStart(), e.at) },
	"alt+d":          func(e *Editor) { e.kill(e.at, e.wordEnd()) },
	"ctrl+delete":    func(e *Editor) { e.kill(e.at, e.wordEnd()) },
	"ctrl+w":         func(e *Editor) { e.kill(e.blankStart(), e.at) },
	"ctrl+u":         func(e *Editor) { e.kill(e.lineStart(), e.at) },
	"ctrl+k":         (*Editor).killToEnd,
	"ctrl+y":         (*Editor).yank,

	"ctrl+_": (*Editor).takeBack, "ctrl+/": (*Editor).takeBack, "ctrl+7": (*Editor).takeBack,

	"ctrl+j": (*Editor).newLine, "shift+enter": (*Editor).newLine, "alt+enter": (*Editor).newLine,
	"ctrl+enter": (*Editor).newLine,
}

// Press runs the binding of a key, such as "ctrl+a". It reports whether there is one.
func (e *Editor) Press(key string) bool {
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
	return c.paste || first == '_' || unicode.IsLetter(first) || unicode.IsDigit(first)
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
	blank := func(c cell) bool { return !c.paste && strings.TrimSpace(c.text) == "" }
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
