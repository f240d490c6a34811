package view

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/projection"
)

// AnswersText returns what an agent asked a person and the answers, each on one line; "" if it asked nothing, or was
// refused.
func AnswersText(p projection.PermissionAnswered) string {
	var lines []string
	for i, answer := range p.Answers {
		if i >= len(p.Questions) {
			break
		}
		given := strings.Join(answer, ", ")
		switch {
		case p.Questions[i].Secret:
			given = "(secret)"
		case len(answer) == 0:
			given = "(no answer)"
		}
		lines = append(lines, tty.SafeLine(p.Questions[i].Text)+" → "+tty.SafeLine(given))
	}
	return strings.Join(lines, "\n")
}
