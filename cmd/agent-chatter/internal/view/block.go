package view

import (
	"cmp"
	"io"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
)

// A Block is a part of a conversation that is shown as a unit, such as a name, a paragraph, a line of code or a tool
// call. The zero Block shows nothing.
type Block struct {
	blank   bool // a blank line precedes it
	content content
}

// Page returns the block of a page of Markdown. It is shown as a message is, but its paragraphs are filled: the line
// breaks of the source do not count.
func Page(text string) Block { return Block{content: message{text: text, filled: true}} }

// running reports whether the block is a tool call that has no result yet.
func (b Block) running() bool {
	c, ok := b.content.(Call)
	return ok && c.State() == conversation.Running
}

// A content is what a Block shows.
type content interface {
	Lines(Style) []ansi.Line
	Plain(Style) []string
}

// OutputStyle returns how to show blocks on standard output: plain if it is no terminal, or one without control
// sequences.
func OutputStyle(a *app.App) Style { return StyleOn(a, a.Stdout) }

// StyleOn is OutputStyle for another output of the App.
func StyleOn(a *app.App, out io.Writer) Style {
	s := Style{Width: cmp.Or(tty.Columns(out), 80), Profile: ProfileOf(a)}
	s.Plain = a.Plain || !tty.IsTerminal(out)
	return s
}

// ProfileOf returns the profile of the theme.
func ProfileOf(a *app.App) ansi.Profile {
	if a.NoColor {
		return ansi.NoColor
	}
	switch a.Theme() {
	case home.ThemeLight:
		return ansi.Light
	case home.ThemeHighContrast:
		return ansi.HighContrast
	case home.ThemeMonochrome:
		return ansi.Monochrome
	}
	return ansi.Color16
}

// BlockOf returns a call as a block.
func BlockOf(c Call) Block { return Block{content: c} }

// Render returns the lines that show a block, without line breaks. They are safe for a terminal. At most Width-1
// columns of it are used, except by lines of code and of diffs and by long words, which the terminal breaks: they can
// be copied whole.
func Render(b Block, s Style) []string {
	if b.content == nil {
		return nil
	}
	if s.Plain {
		return b.content.Plain(s)
	}
	var lines []string
	for _, line := range Lines(b, s) {
		lines = append(lines, s.Profile.Encode(line))
	}
	return lines
}

// Lines returns the lines that show a block, as Render does for a style that is not plain, before they are encoded.
func Lines(b Block, s Style) []ansi.Line {
	if b.content == nil {
		return nil
	}
	lines := b.content.Lines(s)
	if b.blank && len(lines) > 0 {
		lines = append([]ansi.Line{nil}, lines...)
	}
	return lines
}
