package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// A StartError says that a member's command could not be started: it is not there, may not
// be executed, or its working directory is missing. Nothing ran. Its message says what to
// check next.
type StartError struct {
	Command string // as the team has it
	Install string // the command that installs it; "" is not known
	Err     error  // wraps exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission or what the system said
}

func (e *StartError) Error() string {
	if e.Command == "" {
		return `the member has no command to run: set "command" in the team's agents or in the agent registry`
	}
	return fmt.Sprintf("cannot start %q: %v: %s", e.Command, e.Err, e.Help())
}

func (e *StartError) Unwrap() error { return e.Err }

// Help is what a person does next.
func (e *StartError) Help() string {
	switch {
	case errors.Is(e.Err, errDir):
		return "create the directory, or correct the member's baseDir"
	case errors.Is(e.Err, exec.ErrNotFound) && e.Install != "":
		return fmt.Sprintf("install it, or give its full path as the command; to install it, type: %s", e.Install)
	case errors.Is(e.Err, exec.ErrNotFound):
		return fmt.Sprintf("install it, or give its full path as the command; to look for it, type: command -v %s", hint.Quote(e.Command))
	case errors.Is(e.Err, fs.ErrPermission):
		return fmt.Sprintf("it must be a file that may be executed; type: chmod +x %s", hint.Quote(e.Command))
	case errors.Is(e.Err, syscall.ENOEXEC):
		return "it is neither a program of this system nor a script whose first line names one, such as #!/bin/sh"
	case errors.Is(e.Err, fs.ErrNotExist):
		return "check the command and, if it is a script, the program named in its first line"
	}
	return "check the command, its args and its env"
}

// errDir marks the start errors that are about the working directory.
var errDir = errors.New("no such working directory")

// An ExitError says that a member's command ran and failed.
type ExitError struct {
	Command string // as the team has it
	Code    int    // the exit code; -1 when a signal ended it
	Signal  string // the name of the signal that ended it, such as "killed"; otherwise ""
	Stderr  string // the end of its standard error, at most 4 KiB, valid UTF-8, trimmed
}

func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("%q %s and said nothing about it: run it by hand to see why", e.Command, e.how())
	}
	return fmt.Sprintf("%q %s: %s", e.Command, e.how(), e.Stderr)
}

// how is how the command ended.
func (e *ExitError) how() string {
	if e.Signal != "" {
		return "was ended by a signal: " + e.Signal
	}
	return fmt.Sprintf("ended with exit code %d", e.Code)
}
