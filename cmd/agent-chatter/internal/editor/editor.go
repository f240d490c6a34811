package editor

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/clipperhouse/displaywidth"
)

const (
	// A paste of fewer lines, and of at most so many bytes, is inserted as if it was typed.
	longPasteLines  = 8
	shownPasteBytes = 1000

	// shownCellBytes is how much of a cell is shown: a letter may have any number of combining marks.
	shownCellBytes = 64

	// maxCells is how long a text is at most whose every letter can be edited. What is before the cursor in a longer
	// one becomes a paste, as if a terminal without bracketed paste had reported it.
	maxCells = 16 << 10

	// maxUndo is how many changes can be undone.
	maxUndo = 100
)

// An Editor holds the text of a message and a cursor. The zero Editor is empty.
type Editor struct {
	Width int // columns of a row of the screen; 0: unlimited

	text
	killed  []cell // what Ctrl+Y inserts
	killing bool   // the last key was a kill: the next one adds to killed
	undo    []text
	typing  bool // the last change was typed text, with which more text is undone
	goal    int  // 1 + the column that Up and Down keep; 0: that of the cursor

	history  []string
	recalled int  // the index in history of the shown message; len(history): none
	draft    text // the text before a message was recalled
}

// text is what undo restores. Its cells are never changed in place.
type text struct {
	cells []cell
	at    int // the cursor is before this cell
}

type cell struct {
	text  string
	lines int // of a paste; 0: it is none
}

var lineBreak = cell{text: "\n"}

// shown is the cell on the screen, without line breaks.
func (c cell) shown() string {
	switch {
	case c.lines > 1:
		return fmt.Sprintf("[paste: %d lines]", c.lines)
	case c.lines > 0:
		return fmt.Sprintf("[paste: %d bytes]", len(c.text))
	case c.text == "\t":
		return "    "
	}
	return tty.SafeLine(runecut.Prefix(c.text, shownCellBytes))
}

// Text returns the text, with pastes whole.
func (e *Editor) Text() string { return e.text.whole() }

// whole returns the text, with pastes whole.
func (t text) whole() string {
	var b strings.Builder
	for _, c := range t.cells {
		b.WriteString(c.text)
	}
	return b.String()
}

// Empty reports whether there is no text.
func (e *Editor) Empty() bool { return len(e.cells) == 0 }

// Before returns the text of the cursor's line before the cursor, after the last paste. first reports whether nothing
// precedes it.
func (e *Editor) Before() (before string, first bool) {
	start := e.at
	for start > 0 && e.cells[start-1] != lineBreak && e.cells[start-1].lines == 0 {
		start--
	}
	var b strings.Builder
	for _, c := range e.cells[start:e.at] {
		b.WriteString(c.text)
	}
	return b.String(), start == 0
}

// Set replaces the text and puts the cursor at its end. It can be undone.
func (e *Editor) Set(s string) {
	e.change()
	if s = clean(s); len(s) > maxCells {
		e.cells = []cell{paste(s)}
	} else {
		e.cells = cells(s)
	}
	e.at = len(e.cells)
}

// Clear removes the text and what can be undone.
func (e *Editor) Clear() {
	e.text, e.undo = text{}, nil
	e.recalled, e.typing = len(e.history), false
}

// Type inserts typed text at the cursor.
func (e *Editor) Type(s string) {
	if s = clean(s); s == "" {
		return
	}
	if !e.typing {
		e.change()
	}
	e.typing = true
	e.replace(e.at, e.at, cells(s))
}

// Paste inserts pasted text at the cursor. A long one is one cell.
func (e *Editor) Paste(s string) {
	if s = clean(s); s == "" {
		return
	}
	e.change()
	e.replace(e.at, e.at, pasted(s))
}

// pasted returns the cells of a text, one if it is long.
func pasted(s string) []cell {
	if len(s) > shownPasteBytes || strings.Count(s, "\n") >= longPasteLines {
		return []cell{paste(s)}
	}
	return cells(s)
}

func paste(s string) cell { return cell{s, strings.Count(strings.TrimSuffix(s, "\n"), "\n") + 1} }

// ReplaceBefore replaces the last n bytes before the cursor, which are whole cells, as a completion does.
func (e *Editor) ReplaceBefore(n int, s string) {
	e.change()
	from := e.at
	for from > 0 && n > 0 {
		from--
		n -= len(e.cells[from].text)
	}
	e.replace(from, e.at, cells(clean(s)))
}

// Take removes the text and returns it for sending. It becomes the newest message that Up recalls.
func (e *Editor) Take() string {
	s := e.Text()
	e.Remember(s)
	e.Clear()
	return s
}

// Remember adds a message to those that Up recalls.
func (e *Editor) Remember(s string) {
	s = clean(s)
	if strings.TrimSpace(s) != "" && (len(e.history) == 0 || e.history[len(e.history)-1] != s) {
		e.history = append(e.history, s)
	}
	e.recalled = len(e.history)
}

// RememberEarlier adds messages before those that Up recalls, the oldest first, but for those that it already recalls.
func (e *Editor) RememberEarlier(messages []string) {
	var earlier []string
	for _, s := range messages {
		if s = clean(s); strings.TrimSpace(s) != "" && !slices.Contains(e.history, s) {
			earlier = append(earlier, s)
		}
	}
	e.history, e.recalled = append(earlier, e.history...), e.recalled+len(earlier)
}

// change begins a change that can be undone.
func (e *Editor) change() {
	e.undo = append(e.undo, e.text)
	e.undo = e.undo[max(0, len(e.undo)-maxUndo):]
	e.typing, e.killing, e.goal = false, false, 0
}

// replace replaces cells and puts the cursor after them. Graphemes at both ends of them join with
// their neighbours: a combining mark that is typed belongs to the letter before it.
func (e *Editor) replace(from, to int, with []cell) {
	start, end := max(from-1, 0), min(to+1, len(e.cells))
	middle := join(slices.Concat(e.cells[start:from], with, e.cells[to:end]))
	at := start
	for rest := size(e.cells[start:from]) + size(with); rest > 0; at++ {
		rest -= len(middle[at-start].text)
	}
	e.cells, e.at = slices.Concat(e.cells[:start], middle, e.cells[end:]), at
	if len(e.cells) > maxCells && e.at > 1 {
		before := text{cells: e.cells[:e.at]}
		e.cells, e.at = append([]cell{paste(before.whole())}, e.cells[e.at:]...), 1
	}
}

func size(all []cell) (bytes int) {
	for _, c := range all {
		bytes += len(c.text)
	}
	return bytes
}

// join divides the text of cells into graphemes again, except pastes and line breaks.
func join(all []cell) (joined []cell) {
	var run strings.Builder
	for _, c := range all {
		if c.lines == 0 && c != lineBreak {
			run.WriteString(c.text)
			continue
		}
		joined = append(append(joined, cells(run.String())...), c)
		run.Reset()
	}
	return append(joined, cells(run.String())...)
}

// cells divides a text into graphemes.
func cells(s string) []cell {
	var all []cell
	for g := displaywidth.StringGraphemes(s); g.Next(); {
		all = append(all, cell{text: g.Value()})
	}
	return all
}

// clean normalises line ends and removes what is no text: control characters but newline and tab.
func clean(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}
