package process

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

// A StartError is the failure to start a program: it is missing or not executable, or its working
// directory is missing. Nothing ran.
type StartError struct {
	Command string   // as configured; "" if the member has none
	Install []string // the command that installs it; nil if unknown
	Err     error    // wraps exec.ErrNotFound, fs.ErrNotExist, fs.ErrPermission, or another error of the system
}

func (e *StartError) Error() string {
	if e.Command == "" {
		return `no command: set "command" in the team's agents or in the agent registry`
	}
	return fmt.Sprintf("cannot start %q: %v: %s", e.Command, e.Err, e.Advice())
}

func (e *StartError) Unwrap() error { return e.Err }

// Advice returns what to check, as a phrase without commands.
func (e *StartError) Advice() string {
	switch {
	case errors.Is(e.Err, errDir):
		return "create the directory, or correct the member's baseDir"
	case errors.Is(e.Err, exec.ErrNotFound):
		return "install it, or give its full path as the command"
	case errors.Is(e.Err, fs.ErrPermission):
		return "it must be an executable file"
	case errors.Is(e.Err, syscall.ENOEXEC):
		return "it is neither a program of this system nor a script whose first line names one, such as #!/bin/sh"
	case errors.Is(e.Err, fs.ErrNotExist):
		return "check the command and, if it is a script, the program named in its first line"
	}
	return "check the command, its args and its env"
}

var _ hint.Hinter = (*StartError)(nil)

// Hint returns the command that installs or locates the program, or makes it executable.
func (e *StartError) Hint() hint.Hint {
	switch {
	case e.Command == "" || errors.Is(e.Err, errDir):
		return hint.Hint{}
	case errors.Is(e.Err, exec.ErrNotFound) && e.Install != nil:
		return hint.Hint{Kind: hint.Run, Argv: e.Install}
	case errors.Is(e.Err, exec.ErrNotFound):
		argv := []string{"command", "-v", e.Command}
		if strings.HasPrefix(e.Command, "-") {
			argv = slices.Insert(argv, 2, "--")
		}
		return hint.Hint{Kind: hint.Run, Argv: argv}
	case errors.Is(e.Err, fs.ErrPermission) && filepath.IsAbs(e.Command): // otherwise another file may have the name
		return hint.Hint{Kind: hint.Run, Argv: []string{"chmod", "+x", e.Command}}
	}
	return hint.Hint{}
}

// errDir is wrapped by start errors about the working directory.
var errDir = errors.New("no such working directory")

// An ExitError is a program that ran and failed.
type ExitError struct {
	Command string // as configured
	Code    int    // the exit code; -1 if a signal ended it
	Signal  string // the signal that ended it, such as "killed"; otherwise ""
	Stderr  string // the end of its standard error, at most 4 KiB, valid UTF-8, trimmed
}

func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return fmt.Sprintf("%q %s without an error message: run it directly to see why", e.Command, e.Status())
	}
	return fmt.Sprintf("%q %s: %s", e.Command, e.Status(), e.Stderr)
}

// Status returns how the program ended, as a predicate: "exited with code 1".
func (e *ExitError) Status() string {
	if e.Signal != "" {
		return "was ended by signal: " + e.Signal
	}
	return fmt.Sprintf("exited with code %d", e.Code)
}
