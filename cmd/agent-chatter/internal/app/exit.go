package app

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Exit codes. Scripts rely on them.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitLocked      = 4
	ExitDamaged     = 5
	ExitInterrupted = 130
)

// ExitError ends the program with Code and prints Message, unless that is empty.
type ExitError struct {
	Code int
	Message
}

func (e *ExitError) Error() string { return e.Message.String() }

// Exit returns an ExitError with the commands that help.
func Exit(code int, m Message) error { return &ExitError{code, m} }

// UsageError returns an ExitError with ExitUsage.
func UsageError(format string, args ...any) error {
	return Exit(ExitUsage, Text(format, args...))
}

// OutputError reports that a result could not be written.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }
func (e *OutputError) Unwrap() error { return e.Err }

// CodeOf returns the exit code for err; ExitFailed unless err says otherwise.
func CodeOf(err error) int {
	var exit *ExitError
	var corrupt *journal.CorruptError
	var header *catalog.MissingHeaderError
	var ambiguous *catalog.AmbiguousError
	var claimed *hub.ClaimedError
	var fenced *hub.FencedError
	switch {
	case err == nil:
		return ExitDone
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &ambiguous):
		return ExitUsage
	case errors.Is(err, journal.ErrNotFound), errors.Is(err, team.ErrNotFound), errors.Is(err, team.ErrAgentNotFound):
		return ExitNotFound
	case errors.Is(err, journal.ErrLocked), errors.As(err, &claimed), errors.As(err, &fenced):
		return ExitLocked
	case errors.As(err, &corrupt), errors.As(err, &header):
		return ExitDamaged
	case errors.Is(err, context.Canceled):
		return ExitInterrupted
	}
	return ExitFailed
}
