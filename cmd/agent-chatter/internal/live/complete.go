package live

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/editor"
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
