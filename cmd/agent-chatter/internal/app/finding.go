package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// A Finding is the result of a check.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	What  string `json:"what"`
	Help  string `json:"help"` // "" if there is nothing to do

	Commands []Help `json:"-"` // App.Resolve appends them to Help
}

// State is the severity of a Finding.
type State string

// The states of a Finding.
const (
	StateOK    State = "ok"
	StateNote  State = "note"
	StateWrong State = "wrong"
)

// Fine returns a Finding without a problem.
func Fine(what string) Finding { return Finding{State: StateOK, What: what} }

// Note returns a Finding that needs no action.
func Note(what, help string, commands ...Help) Finding {
	return Finding{State: StateNote, What: what, Help: help, Commands: commands}
}

// Wrong returns a Finding that needs action.
func Wrong(what, help string, commands ...Help) Finding {
	return Finding{State: StateWrong, What: what, Help: help, Commands: commands}
}

// Resolve returns f with its commands in Help, as the user has to type them.
func (p *Printer) Resolve(f Finding) Finding {
	f.Help = p.Render(Message{f.Help, f.Commands})
	f.Commands = nil
	return f
}

// WriteFinding writes a resolved Finding for a pipe: its state, what it is of, and what helps on lines of their own.
func WriteFinding(w io.Writer, of string, f Finding) error {
	_, err := fmt.Fprintf(w, "%-5s  %s: %s\n", f.State, of, tty.SafeLine(f.What))
	for line := range strings.Lines(f.Help) {
		if err == nil {
			_, err = fmt.Fprintf(w, "       %s\n", tty.SafeLine(strings.TrimSuffix(line, "\n")))
		}
	}
	return err
}

// NetworkText is for a directory that other machines may share.
func NetworkText(dir, kind string) Finding {
	return Note(
		fmt.Sprintf("%s may be on a network file system (%s): locks may not work across machines",
			tty.SafeLine(dir), tty.SafeLine(kind)),
		"Use a session on one machine at a time, or keep the sessions on a local disk with --home DIR.",
	)
}
