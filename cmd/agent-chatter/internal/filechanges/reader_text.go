package filechanges

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// elsewhereText is for a session whose files this home has not captured.
func elsewhereText(id string) app.Message {
	return app.Text("The files of session %s were recorded in another home or on another machine: "+
		"they can be viewed there only.", id).
		With(app.To("list which files changed", "files", "list", id))
}

// notChangedText is for a path that a step does not have.
func notChangedText(path string) string { return pathText(path) + " did not change there." }

// notByTurnText is for a change that cannot be set back, and who made it.
func notByTurnText(who string) app.Message {
	return app.Text("Only what agents changed can be set back, and this was changed by %s.", who)
}

// sizesText has the sizes of a file before and after a change.
func sizesText(before, after int64) string {
	return fmt.Sprintf("%s before, %s after", app.Bytes(uint64(before)), app.Bytes(uint64(after)))
}

// largeFileText is for a file that is too large for its lines to be compared.
func largeFileText(before, after int64) string {
	return "The file is too large for its lines to be shown: " + sizesText(before, after) + "."
}

// binaryFileText is for a file that is no text.
func binaryFileText(before, after int64) string {
	return "The file is no text: " + sizesText(before, after) + "."
}

// modeText is for a file with other permissions.
func modeText(before, after uint32) string {
	return fmt.Sprintf("Its permissions changed from %04o to %04o.", before&0o7777, after&0o7777)
}

// linkText is for a symbolic link before or after a change.
func linkText(before bool, target string) string {
	if before {
		return "It was a symbolic link to " + tty.SafeLine(target) + "."
	}
	return "It became a symbolic link to " + tty.SafeLine(target) + "."
}

// skippedSideText is for a file whose content was not captured before or after a change, and why.
func skippedSideText(before bool, why string) string {
	when := "after"
	if before {
		when = "before"
	}
	return fmt.Sprintf("Its content was not captured %s the change: %s.", when, tty.SafeLine(why))
}

// moreLinesText is for a change of which only the first lines are shown.
func moreLinesText(shown int) string {
	return fmt.Sprintf("Only the first %d lines of the change are shown.", shown)
}

const textEmptyFile = "The file is empty."
