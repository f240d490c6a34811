package app

import (
	"fmt"

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
func (m Message) String() string { return (&Printer{}).Render(m) }
