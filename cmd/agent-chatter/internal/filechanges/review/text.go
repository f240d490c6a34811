package review

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

const (
	textReading         = "Reading …"
	textComparing       = "Comparing the files with their captures …"
	textRestoring       = "Setting files back …"
	textCancelled       = "Cancelled."
	textRestoreQuestion = "Set back? [y/N] "
	textUndoTitle       = "Undo the last restore"
	textUndoHow         = "u undoes it."
	textHelpTitle       = "Keys"
	textHelpRestore     = "Only what agents changed is set back, and only if neither you nor another program changed " +
		"it since. What is kept is named, with the reason, before you confirm. Every restore can be undone."
)

// turnText names a turn, with blanks after it; "" if no turn changed the files.
func turnText(number int, byTurn bool) string {
	switch {
	case number > 0:
		return fmt.Sprintf("turn %d  ", number)
	case byTurn:
		return "a turn  "
	}
	return ""
}

// filesText counts the files of a step.
func filesText(s filechanges.Step) string {
	if s.Problem != "" {
		return "unknown files"
	}
	return app.Count(len(s.Files), "file")
}

// byText says in which turn a file changed, and by whom.
func byText(s filechanges.Step) string { return turnText(s.Turn, s.ByTurn) + s.Who }

// stepText says what the selected turn is.
func stepText(s filechanges.Step) string {
	return fmt.Sprintf("%s changed %s in %s.", s.Who, app.Count(len(s.Files), "file"), tty.SafeLine(s.Dir))
}

// hunkText names a hunk, and the number of its first line.
func hunkText(i, n, line int) string { return fmt.Sprintf("hunk %d of %d, line %d", i+1, n, line) }

// moreText is for rows of a dialog that are not in view.
func moreText(rows int) string { return fmt.Sprintf("↓ %d more", rows) }

// restoreTitle says what is to be set back.
func restoreTitle(s filechanges.Step, t filechanges.Target) string {
	what := app.Count(len(t.Paths), "file")
	if len(t.Paths) == 1 {
		what = tty.SafeLine(t.Paths[0])
	}
	if t.Part > 0 {
		what = fmt.Sprintf("hunk %d of %s", t.Part, what)
	}
	if s.Turn == 0 {
		return "Set " + what + " back"
	}
	return fmt.Sprintf("Set %s back to before turn %d", what, s.Turn)
}

// noTerminalText is for a viewer without a terminal.
func noTerminalText(id string) app.Message {
	return app.Text("files review needs a terminal.").
		With(app.To("print what changed", "files", "list", id, "--diff"))
}
