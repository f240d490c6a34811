package updates

import (
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/projection/conversation"
	"github.com/agent-chatter/agent-chatter/projection/markdown"
)

// A notice is a text of the program, as Markdown, that waits.
type notice struct {
	text  string
	after *conversation.Turn // for the end of the turn; nil: for that of the one whose text the client gets now
}

// Notice returns the updates for a message of the program, which no journal has. While a member speaks it waits for the
// end of what the member says; and if the newest event is of a turn that the client does not have yet, for that turn.
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
	n := notice{text: quoted(warningSign, lines)}
	if newest := t.newest; newest != nil && newest.Began > 0 && len(t.sequence.Of(newest.ID)) > 0 {
		n.after = newest
	}
	return t.notify(n)
}

// Answer returns the updates for what a command of the user prints, as Notice does, but without the sign of a warning.
func (t *Translator) Answer(text string) []sdk.SessionUpdate {
	return t.notify(notice{text: quoted("", escapedLines(text))})
}

// escapedLines returns the lines of a text as Markdown.
func escapedLines(text string) (lines []string) {
	for line := range strings.Lines(text) {
		lines = append(lines, markdown.Escape(line))
	}
	return lines
}

func (t *Translator) notify(n notice) []sdk.SessionUpdate {
	t.notices = append(t.notices, n)
	if !t.headed {
		t.addNotices(nil)
	}
	return t.updates(nil)
}

func (t *Translator) command(h hint.Hint) string {
	if t.o.Command == nil {
		return ""
	}
	return t.o.Command(h)
}

// addNotices adds the notices that waited for the end of a message, and of a turn unless that is nil. They follow a
// blank line, or are followed by one, so that they change nothing of what the session itself has.
func (t *Translator) addNotices(ended *conversation.Turn) {
	var left []notice
	for _, n := range t.notices {
		if n.after != nil && n.after != ended {
			left = append(left, n)
			continue
		}
		text := n.text
		if t.spoken {
			text = "\n\n" + text
		} else {
			text += "\n\n"
		}
		t.out = append(t.out, sdk.SessionUpdate{AgentMessageChunk: &sdk.SessionUpdateAgentMessageChunk{
			Content: sdk.TextBlock(text), Meta: meta{Notice: true}.values(),
		}})
	}
	t.notices = left
}
