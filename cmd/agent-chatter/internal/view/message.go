package view

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A message is a text that is complete. Its Markdown is parsed when it is rendered.
type message struct {
	name, text string
	filled     bool // the line breaks of the source are blanks
}

func (m message) Lines(s Style) (lines []ansi.Line) {
	var w openText
	for _, p := range append(w.stream.Write(m.text), w.stream.Close()...) {
		if m.filled {
			p.Inlines = fill(p.Inlines)
		}
		b := w.block(p)
		if b.content == nil {
			continue
		}
		shown := b.content.Lines(s)
		if b.blank && len(shown) > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, shown...)
	}
	return lines
}

// fill replaces the line breaks of the source by blanks.
func fill(inlines []markdown.Inline) []markdown.Inline {
	filled := slices.Clone(inlines)
	for i, in := range filled {
		filled[i].Text, filled[i].Inlines = strings.ReplaceAll(in.Text, "\n", " "), fill(in.Inlines)
	}
	return filled
}

func (m message) Plain(Style) []string {
	return strings.Split(tty.SafeLine(m.name)+": "+tty.Safe(m.text), "\n")
}

// MessageText returns a message after the name of its speaker.
func MessageText(e projection.Entry) string {
	m := message{name: e.Speaker.DisplayName + app.UnfinishedText(e), text: e.Content}
	return strings.Join(m.Plain(Style{}), "\n")
}
