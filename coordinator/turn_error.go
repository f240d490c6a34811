package coordinator

import (
	"errors"
	"fmt"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// TurnError is the error of Say for a turn that failed, timed out or was canceled. It is also a
// Notice. The session continues.
type TurnError struct {
	Member  team.Member
	Reason  projection.FinishReason // Failed, Cancelled or TimedOut
	Message string                  // of Err, without secrets
	Detail  string                  // Message without the name of the agent
	Err     error
	Partial bool // the session has what the agent said
}

func (e *TurnError) Error() string { return e.Member.DisplayName + ": " + e.Message }

func (e *TurnError) Unwrap() error { return e.Err }

// timeoutError is the error of a turn that exceeded a limit of the team file.
type timeoutError struct {
	Setting string // the name of the limit
	Limit   time.Duration
}

func (e *timeoutError) Error() string {
	what := "no reply within"
	if e.Setting == idleTimeSetting {
		what = "no output for"
	}
	return fmt.Sprintf("%s %v; raise %s in the team file to allow more", what, e.Limit, e.Setting)
}

// Hint returns the command that reruns the turn.
func (e *timeoutError) Hint() hint.Hint { return retryHint }

var retryHint = hint.Hint{Kind: hint.Slash, Argv: []string{"retry"}}

const (
	responseTimeSetting = "maxAgentResponseTime"
	idleTimeSetting     = "maxAgentIdleTime"
)

// replyTooLongError is the error of a turn whose reply exceeds the journal's limit for a line.
type replyTooLongError struct{ *journal.TooLongError }

func (e *replyTooLongError) Error() string {
	return fmt.Sprintf("the reply exceeds the journal's limit of %d bytes; ask for less, or for a file, "+
		"or raise journal.maxLine in config.json", e.Limit)
}

func (e *replyTooLongError) Unwrap() error { return e.TooLongError }

// errReplyTooLong is the error of a turn whose reply exceeds maxReply.
var errReplyTooLong = fmt.Errorf("the reply exceeds %d bytes; ask for less, or for a file", maxReply)

var errNoReply = errors.New("it ended without an answer")
