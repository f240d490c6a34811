package chat

import (
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

// An invocation is a command that runs. What it says is printed by its app.
type invocation struct {
	*repl
	app *app.App
}

// inChat returns an invocation that prints as the conversation does.
func (r *repl) inChat() invocation { return invocation{r, r.app} }

// echo prints a command that changes something. What it prints follows.
func (r *repl) echo(line string) {
	if r.display.console != nil {
		r.display.console.Echo(line)
	}
}

// answer runs a command that changes nothing. What it prints is not a part of what a terminal shows of the
// conversation.
func (r *repl) answer(line string, run func(invocation) error) error {
	c := r.display.console
	if c == nil {
		return run(r.inChat())
	}
	answer, own := c.Answer(strings.TrimSpace(line)), *r.app
	own.Stdout, own.Stderr = answer, answer
	defer answer.Show()
	return run(invocation{r, &own})
}
