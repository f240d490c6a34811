package editor

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
	"github.com/clipperhouse/displaywidth"
)

// maxCharacter is how much of a character is shown, in bytes: a letter may have any number of combining marks.
const maxCharacter = 64

// A row is a text on the screen with a cursor.
type fieldRow struct {
	characters []string // grapheme clusters, safe for a terminal
	widths     []int    // of them in columns
	at         int      // the cursor is on this character, or after the last one
	columns    int      // of the window
}

func (r *fieldRow) add(text string) {
	for g := displaywidth.StringGraphemes(text); g.Next(); {
		c := tty.SafeLine(runecut.Prefix(g.Value(), maxCharacter))
		r.characters, r.widths = append(r.characters, c), append(r.widths, displaywidth.String(c))
	}
}

// width returns the columns of a part of the row.
func (r *fieldRow) width(from, to int) (n int) {
	for _, width := range r.widths[from:to] {
		n += width
	}
	return n
}

// left returns the width of what precedes character first in the window: an ellipsis if that hides others.
func (r *fieldRow) left(first int) int { return r.ellipsis(first > 0) }

// ellipsis returns the width of the ellipsis on a side. A window without room for a wide character between two of them
// has none.
func (r *fieldRow) ellipsis(hidden bool) int {
	if hidden && r.columns >= 4 {
		return 1
	}
	return 0
}

// cursor returns the width of the cursor after the last character, or 0 if it is on one.
func (r *fieldRow) cursor() int {
	if r.at == len(r.widths) {
		return 1
	}
	return 0
}

// complete reports whether all from character first on fits into the window.
func (r *fieldRow) complete(first int) bool {
	return r.left(first)+r.width(first, len(r.widths))+r.cursor() <= r.columns
}

// last returns the end of the characters that are shown from character first on.
func (r *fieldRow) last(first int) int {
	if r.complete(first) {
		return len(r.widths)
	}
	column := r.left(first) + r.ellipsis(true)
	for i := first; i < len(r.widths); i++ {
		if column += r.widths[i]; column > r.columns {
			return i
		}
	}
	return len(r.widths)
}

// scroll returns the first character of the window, which was first before, so that the cursor is in it.
func (r *fieldRow) scroll(first int) int {
	first = min(first, r.at)
	for first < r.at && r.last(first) <= r.at && !r.complete(first) {
		first++
	}
	for first > 0 && r.complete(first-1) {
		first--
	}
	return first
}

// View returns the text in a window of at most so many columns, and the column of the cursor in it, where the caller
// shows the terminal's cursor: it is less than columns. The text is safe for a terminal. The window scrolls with the
// cursor; an ellipsis stands for what is left out on a side.
func (f *Field) View(columns int) (text string, cursor int) {
	if columns <= 0 {
		return "", 0
	}
	before, _ := f.editor.Before()
	r := &fieldRow{columns: columns}
	r.add(before)
	r.at = len(r.characters)
	r.add(f.Text()[len(before):])
	f.first = r.scroll(f.first)
	last := r.last(f.first)
	text = strings.Repeat("…", r.left(f.first)) + strings.Join(r.characters[f.first:last], "") +
		strings.Repeat("…", r.ellipsis(last < len(r.characters)))
	return text, min(r.left(f.first)+r.width(f.first, r.at), columns-1)
}
