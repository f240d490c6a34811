package view

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A Block is a part of a conversation that is shown as a unit, such as a name, a paragraph, a line of code or a tool
// call. The zero Block shows nothing.
type Block struct {
	blank   bool // a blank line precedes it
	content content
}

// A content is what a Block shows.
type content interface {
	lines(Style) []ansi.Line
	plain(Style) []string
}

// Style says how Render shows blocks.
type Style struct {
	Width   int // of the terminal in columns; 0 is unlimited. Lines leave the last column empty
	Profile ansi.Profile
	Plain   bool // without control sequences and layout: the text as it was written, after the name of its speaker
	Whole   bool // all of a tool's input and output instead of their beginning
}

// columns is how many columns a line may have.
func (s Style) columns() int {
	if s.Width <= 0 {
		return unlimited
	}
	return max(s.Width-1, minColumns)
}

const (
	unlimited  = 1 << 20
	minColumns = 10
)

// Render returns the lines that show a block, without line breaks. They are safe for a terminal. At most Width-1
// columns of it are used, except by lines of code and of diffs, which the terminal breaks: they can be copied whole.
func Render(b Block, s Style) []string {
	if b.content == nil {
		return nil
	}
	if s.Plain {
		return b.content.plain(s)
	}
	var lines []string
	for _, line := range b.content.lines(s) {
		lines = append(lines, s.Profile.Encode(line))
	}
	if b.blank && len(lines) > 0 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

// nameLine is the name of a speaker, above what it says.
type nameLine struct{ member Member }

func (n nameLine) lines(s Style) []ansi.Line {
	name := ansi.Span{Text: n.member.DisplayName, Style: ansi.Style{Bold: true, Color: n.member.Color}}
	return []ansi.Line{ansi.Cut(ansi.Line{name}, s.columns())}
}

// plain returns nothing: the first line of the text has the name.
func (nameLine) plain(Style) []string { return nil }

// text is a piece of a message.
type text struct {
	piece markdown.Piece
	code  ansi.Line // the line of code that the piece is
	name  string    // of the speaker, if the piece begins a part of a message
}

func (t text) lines(s Style) []ansi.Line {
	return ansi.Piece(t.piece, t.code, s.columns(), s.Profile)
}

func (t text) plain(s Style) []string {
	source := strings.TrimSuffix(strings.TrimSuffix(t.piece.Source, "\n"), "\r")
	if t.piece.Kind == "" {
		source = strings.TrimRight(source, blanks)
	}
	if t.name != "" {
		source = tty.SafeLine(t.name) + ": " + strings.TrimLeft(source, "\r\n")
	}
	source = tty.Safe(source)
	if t.piece.Kind != markdown.CodeBlock && t.piece.Kind != markdown.Table {
		source = tty.Fold(source, s.Width)
	}
	return strings.Split(source, "\n")
}

// turnLine is the end of a turn.
type turnLine struct {
	parts []string
	mark  string // what is wrong with the turn; "": nothing
}

func (t turnLine) lines(s Style) []ansi.Line {
	var line ansi.Line
	style := ansi.Style{Dim: true}
	if t.mark != "" {
		line = append(line, ansi.Span{Text: t.mark, Style: ansi.Style{Color: ansi.Red}})
		if len(t.parts) > 0 {
			line = append(line, ansi.Span{Text: " · ", Style: style})
		}
	}
	return ansi.Wrap(append(line, ansi.Span{Text: strings.Join(t.parts, " · "), Style: style}), s.columns())
}

func (turnLine) plain(Style) []string { return nil }
