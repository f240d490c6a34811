package app

import (
	"strings"
	"unicode/utf8"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// maxTitle is the length of the longest title that a user can set, in characters: lists and pages show it whole.
const maxTitle = 500

// Title returns a title that a user has typed, on one line. It returns an error of ExitUsage if the title is empty or
// too long.
func Title(typed string) (string, error) {
	title := strings.TrimSpace(tty.SafeLine(typed))
	switch {
	case title == "":
		return "", UsageError("A title cannot be empty.")
	case utf8.RuneCountInString(title) > maxTitle:
		return "", UsageError("A title has at most %d characters.", maxTitle)
	}
	return title, nil
}
