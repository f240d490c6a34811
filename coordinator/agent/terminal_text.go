package agent

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// A terminalText removes from the output of a program what a terminal does not show: escape sequences, a byte order
// mark at its start, and what a line had before a carriage return. Output arrives in pieces, which may be cut anywhere.
// Text that was returned stays: if its line is written again later, that is another line.
type terminalText struct {
	begun    bool
	held     string // the start of an escape sequence, or of a byte order mark
	line     string // of a line that is written again, what it shows now
	again    bool   // the line is written again
	shown    bool   // text of the line was returned
	returned bool   // the newest character is a carriage return
}

// The bounds of what a terminalText holds, in bytes. What is longer is text.
const (
	maxSequence = 4 << 10
	maxRedrawn  = 1 << 20
)

const escape = '\x1b'

// next returns what a piece adds to the text.
func (t *terminalText) next(piece string) string {
	piece, t.held = t.held+piece, ""
	if !t.begun && piece != "" {
		const mark = "\uFEFF"
		if len(piece) < len(mark) && strings.HasPrefix(mark, piece) {
			t.held = piece
			return ""
		}
		t.begun, piece = true, strings.TrimPrefix(piece, mark)
	}
	return t.redraw(t.withoutSequences(piece))
}

// rest returns what is left at the end of the output.
func (t *terminalText) rest() string {
	text := t.held
	if strings.HasPrefix(text, string(escape)) {
		text = ""
	}
	t.held = ""
	return t.redraw(text) + t.endLine()
}

// withoutSequences removes the escape sequences. It keeps the start of one.
func (t *terminalText) withoutSequences(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, escape)
		if at < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at])
		text = text[at:]
		_, _, n, state := ansi.DecodeSequence(text, ansi.NormalState, nil)
		switch {
		case state == ansi.NormalState && n > 0:
			text = text[n:]
		case len(text) <= maxSequence:
			t.held = text
			return b.String()
		default:
			text = text[1:]
		}
	}
}

// redraw returns what is shown of a text with carriage returns.
func (t *terminalText) redraw(text string) string {
	var out []byte
	line := 0 // where the line starts in out
	for text != "" {
		part, control := text, byte(0)
		if at := strings.IndexAny(text, "\r\n"); at >= 0 {
			part, control, text = text[:at], text[at], text[at+1:]
		} else {
			text = ""
		}
		if part != "" && t.returned {
			t.again, t.returned, t.line = true, false, ""
			out = out[:line]
		}
		switch {
		case !t.again:
			out = append(out, part...)
		case len(t.line)+len(part) > maxRedrawn:
			out = append(out, t.endLine()+part+"\n"...)
			line = len(out)
		default:
			t.line += part
		}
		switch control {
		case '\r':
			t.returned = true
		case '\n':
			out = append(out, t.endLine()+"\n"...)
			line, t.shown = len(out), false
		}
	}
	t.shown = t.shown || len(out) > line
	return string(out)
}

// endLine returns what is left of the line.
func (t *terminalText) endLine() (text string) {
	if t.again && t.shown {
		text = "\n"
	}
	text += t.line
	t.line, t.again, t.returned = "", false, false
	return text
}
