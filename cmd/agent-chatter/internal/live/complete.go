package live

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// maxCompleted is how long a text may be that is completed, in bytes.
const maxCompleted = 64 << 10

// Complete returns how a text can go on with the choices of known, whose commands are left out unless permitted reports
// true for them.
func Complete(known editor.Sources, text string, permitted func(command string) bool) Completion {
	c := Completion{Choices: []Choice{}}
	if len(text) > maxCompleted {
		return c
	}
	known.Commands = slices.DeleteFunc(slices.Clone(known.Commands), func(c editor.Choice) bool {
		return !permitted(c.Text)
	})
	line := text[strings.LastIndexByte(text, '\n')+1:]
	choices, word := editor.Complete(line, line == text, known)
	c.From = len(text) - word
	for _, choice := range choices {
		c.Choices = append(c.Choices, Choice{Insert: choice.Text, Help: choice.Help})
	}
	return c
}

// Members returns the members of a team that a text can name, humans last: a message is seldom for its own author.
func Members(t *team.Team) (choices []editor.Choice) {
	var humans []editor.Choice
	for _, m := range t.Members {
		choice := editor.Choice{Text: "@" + tty.SafeLine(m.Name), Help: tty.SafeLine(m.DisplayName)}
		if m.Type == team.Human {
			humans = append(humans, choice)
		} else {
			choices = append(choices, choice)
		}
	}
	return append(choices, humans...)
}
