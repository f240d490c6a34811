package updates

import (
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// Notice returns the updates for a message of the program, which no journal has. While a member speaks it waits for the
// end of what the member says.
func (t *Translator) Notice(m app.Message) []sdk.SessionUpdate {
	lines := escapedLines(m.Text)
	for _, help := range m.Help {
		if command := t.command(help.Command); command != "" {
			lines = append(lines, "To "+markdown.Escape(help.Purpose)+", type: "+markdown.AsCodeSpan(command))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return t.notify(quoted(warningSign, lines))
}

// Answer returns the updates for what a command of the user prints, as Notice does, but without the sign of a warning.
func (t *Translator) Answer(text string) []sdk.SessionUpdate {
	return t.notify(quoted("", escapedLines(text)))
}

// escapedLines returns the lines of a text as Markdown.
func escapedLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, markdown.Escape(line))
	}
	return lines
}

func (t *Translator) notify(quote string) []sdk.SessionUpdate {
	t.notices = append(t.notices, quote)
	if !t.headed {
		t.addNotices()
	}
	return t.updates(nil)
}

func (t *Translator) command(h hint.Hint) string {
	if t.o.Command == nil {
		return ""
	}
	return t.o.Command(h)
}

// addNotices adds the notices that waited. They follow a blank line, or are followed by one, so that they change
// nothing of what the session itself has.
func (t *Translator) addNotices() {
	for _, text := range t.notices {
		if t.spoken {
			text = "\n\n" + text
		} else {
			text += "\n\n"
		}
		t.out = append(t.out, sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{
			Content: sdk.TextBlock(text), Meta: meta{Notice: true}.values(),
		}})
	}
	t.notices = nil
}
