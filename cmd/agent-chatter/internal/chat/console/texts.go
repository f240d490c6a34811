package console

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	textNoOutput   = "No tool has finished in this chat yet."
	textEscape     = "esc to interrupt"
	textTabAnswers = "Tab: answer the question above. Other keys: continue the text."
	textReason     = "Enter: refuse, and send the reason. Esc: back."
)

// queuedText shows a message that is sent after the turn.
func queuedText(text string) string { return "queued: " + tty.SafeLine(text) }

func moreQueuedText(n int) string { return fmt.Sprintf("… %s queued", app.Count(n, "more message")) }

// droppedText reports a paste that is too long to keep whole.
func droppedText(bytes int) string {
	return fmt.Sprintf("The paste is too long: its last %s are missing. Name a file instead.", app.Count(bytes, "byte"))
}

// missingText reports lines that were not kept while the terminal took no output.
func missingText(lines int) string {
	return fmt.Sprintf("… %s not shown: the terminal took no output for too long. The session has the messages.",
		app.Count(lines, "line"))
}

// longQuestionText is for a question whose beginning may have left the screen.
func longQuestionText(lines int) string {
	return fmt.Sprintf("The question has %s: scroll up to its beginning.", app.Count(lines, "line"))
}

func editorFailedText(err error) string {
	return fmt.Sprintf("The editor failed, and the text is unchanged: %v. Set EDITOR to another one.", err)
}
