package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// A Message is a text for the user and the commands that help. The zero Message is
// empty.
type Message struct {
	Text string // safe for a terminal
	Help []Help
}

// A Help is a command and its purpose, such as "watch it".
type Help struct {
	Purpose string
	Command hint.Hint
}

// Text returns a Message without commands.
func Text(format string, args ...any) Message { return Message{Text: fmt.Sprintf(format, args...)} }

// With returns m with more commands.
func (m Message) With(help ...Help) Message {
	m.Help = append(m.Help[:len(m.Help):len(m.Help)], help...)
	return m
}

// To returns a command of agent-chatter: argv starts with the subcommand.
func To(purpose string, argv ...string) Help {
	return Help{purpose, hint.Hint{Kind: hint.Command, Argv: argv}}
}

// ToRun returns a command of another program.
func ToRun(purpose string, argv ...string) Help {
	return Help{purpose, hint.Hint{Kind: hint.Run, Argv: argv}}
}

// String returns the message with its commands as a shell takes them.
func (m Message) String() string { return (&App{}).Render(m) }

// Render returns the text of m followed by its commands, each on a line of its own
// that can be pasted. A slash command is left out where none can be typed.
func (a *App) Render(m Message) string {
	lines := []string{}
	if m.Text != "" {
		lines = append(lines, m.Text)
	}
	for _, h := range m.Help {
		if command := a.CommandLine(h.Command); command != "" {
			lines = append(lines, fmt.Sprintf("To %s, type: %s", h.Purpose, command))
		}
	}
	return strings.Join(lines, "\n")
}

// Confirm asks a question at the terminal. Only y and yes, in either case, confirm.
func (a *App) Confirm(question string) (bool, error) {
	a.progress.Erase()
	fmt.Fprint(a.Stderr, question+" [y/N] ")
	answer, err := tty.NewAnswers(a.Stdin).Next()
	if err != nil && err != io.EOF {
		return false, err
	}
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", nil
}

// CommandLine returns a hint as the user has to type it: in a chat as a slash
// command if there is one, in a shell with --home if the user named the home. It
// returns "" if the hint cannot be typed here.
func (a *App) CommandLine(h hint.Hint) string {
	switch h.Kind {
	case hint.Run:
		return hint.Join(h.Argv)
	case hint.Slash:
		if a.Slash == nil {
			return ""
		}
		return "/" + strings.Join(h.Argv, " ")
	case hint.Command:
		if a.Slash != nil {
			if slash := a.Slash(h.Argv); slash != nil {
				return "/" + strings.Join(slash, " ")
			}
		}
		argv := []string{"agent-chatter"}
		if a.homeFlag {
			argv = append(argv, "--home", a.Home)
		}
		return hint.Join(append(argv, h.Argv...))
	}
	return ""
}
