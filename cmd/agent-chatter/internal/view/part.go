package view

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A Style says how parts of a conversation are shown.
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

// A Name is the name of a speaker, above what it says.
type Name struct {
	Name  string
	Color ansi.Color
}

func (n Name) Lines(s Style) []ansi.Line {
	name := ansi.Span{Text: n.Name, Style: ansi.Style{Bold: true, Color: n.Color}}
	return []ansi.Line{ansi.Cut(ansi.Line{name}, s.columns())}
}

// Plain returns nothing: the first line of the text has the name.
func (Name) Plain(Style) []string { return nil }

// A Text is a piece of a message.
type Text struct {
	Piece markdown.Piece
	Code  ansi.Line // the line of code that the piece is, in styles
	Name  string    // of the speaker, if plain text has it before the piece
}

func (t Text) Lines(s Style) []ansi.Line {
	return ansi.Piece(t.Piece, t.Code, s.columns(), s.Profile)
}

func (t Text) Plain(Style) []string {
	source := strings.TrimSuffix(strings.TrimSuffix(t.Piece.Source, "\n"), "\r")
	if t.Piece.Kind == "" {
		source = strings.TrimRight(source, " \t\r\n")
	}
	if t.Name != "" {
		source = tty.SafeLine(t.Name) + ": " + strings.TrimLeft(source, "\r\n")
	}
	return strings.Split(tty.Safe(source), "\n")
}

// A TurnEnd is the end of a turn: its duration, its tokens and its cost.
type TurnEnd struct {
	Figures []string
	Problem string // why it is unfinished; "": it is not
}

func (t TurnEnd) Lines(s Style) []ansi.Line {
	style := ansi.Style{Dim: true}
	line := ansi.Line{{Text: "— ", Style: style}}
	if t.Problem != "" {
		line = ansi.Line{{Text: "✗ " + t.Problem, Style: ansi.Style{Color: ansi.Red}}}
		if len(t.Figures) > 0 {
			line = append(line, ansi.Span{Text: " · ", Style: style})
		}
	}
	return ansi.Wrap(append(line, ansi.Span{Text: strings.Join(t.Figures, " · "), Style: style}), s.columns())
}

func (TurnEnd) Plain(Style) []string { return nil }

// A Note says in one line what changed in a session.
type Note string

func (n Note) Lines(s Style) []ansi.Line {
	return []ansi.Line{ansi.Cut(ansi.Line{{Text: tty.SafeLine(string(n)), Style: ansi.Style{Dim: true}}}, s.columns())}
}

func (n Note) Plain(Style) []string { return []string{tty.SafeLine(string(n))} }
