package console

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	textNoOutput     = "No tool has finished in this session yet."
	textNoAnswer     = "Enter sends it. Tab chooses an answer."
	textTyped        = "Enter: send it. Esc: back."
	textNothingFound = "  nothing found"
	textWaits        = "waiting for your answer"
	textChooses      = "a letter and Enter, or ←→ and Enter"
	textTurnEnded    = "The agents have finished."
	textCloses       = " · esc closes"
	textLeaves       = "Ctrl+C again: save and leave"

	// The placeholders of an empty input box.
	textNextMessage = "Message, / for commands, @ for members"
	textTypeAhead   = "Enter sends a message"
)

// textsEscape say what Escape does to the running agent, the longest first.
var textsEscape = []string{"esc to interrupt", "esc to stop", "esc"}

// What a turn of a panel does.
const (
	textThinks    = "thinks"
	textAsks      = "asks"
	textDone      = "done"
	textFailed    = "failed"
	textCancelled = "cancelled"
)

// panelTexts say what keys do while turns run at the same time, the longest first: those that choose one of so many
// turns, 0 if they have their usual effects, and Escape, which stops the turn of a member and soon after that all, or
// all at once if member is "".
func panelTexts(turns int, escape bool, member string) []string {
	choose := []string{fmt.Sprintf("tab or 1-%d: choose", turns), "tab: choose", "tab"}
	if turns == 0 {
		choose = []string{"", "", ""}
	}
	member = tty.SafeLine(member)
	stop := []string{"esc: stop " + member + ", twice: all", "esc: stop " + member, "esc"}
	switch {
	case !escape:
		return choose
	case member == "":
		stop = []string{"esc: stop all", "esc: stop all", "esc"}
	}
	for i := range choose {
		if choose[i] != "" {
			choose[i] += " · "
		}
		choose[i] += stop[i]
	}
	return choose
}

func nextText(names string) string { return "next: " + names }

// menuText is the status row while a menu is open.
func menuText(selected, choices int) string {
	return fmt.Sprintf("%d of %d · tab completes · ↑↓", selected, choices)
}

// thinkingText is shown before the first output of an agent.
func thinkingText(member string) string { return tty.SafeLine(member) + " thinks" }

// usingText is shown while a tool of an agent runs.
func usingText(member, tool string) string { return tty.SafeLine(member) + " " + usesText(tool) }

func usesText(tool string) string { return "uses " + tty.SafeLine(tool) }

// sentText shows a message that the agent that works has not read yet.
func sentText(text string) string { return "sent: " + tty.SafeLine(text) }

// queuedText shows a message that is sent when a person is next.
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

// editorFileText is for a file that could not be created for the editor, or read after it.
func editorFileText(err error) string {
	return fmt.Sprintf("The text cannot be edited, and is unchanged: %v. Check the directory for temporary files.", err)
}

// editorLeftText is for a file that could not be removed after the editor.
func editorLeftText(err error) string {
	return fmt.Sprintf("The text was edited, but its temporary file is left: %v. Remove it.", err)
}

func editedTooLongText(path string) string {
	return fmt.Sprintf("The edited text has more than %d MiB. It is left in %s. Name that file in a message instead.",
		maxEdited>>20, path)
}

// notLentText is for a terminal that could not be given to the editor, or taken back.
func notLentText(err error) string {
	return fmt.Sprintf("The settings of the terminal cannot be changed: %v.", err)
}

func editorFailedText(err error) string {
	return fmt.Sprintf("The editor failed, and the text is unchanged: %v. Set EDITOR to another one.", err)
}
