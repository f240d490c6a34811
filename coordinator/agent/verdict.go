package agent

import (
	"cmp"
	"fmt"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// A verdict is the agent's own report of the end of the turn. The last one of a turn counts.
type verdict struct {
	failed  bool
	message string // why it failed
}

// An unparsedLine is a line that is not in the agent's format.
type unparsedLine string

func (verdict) event()      {}
func (unparsedLine) event() {}

// warning returns why a turn that fails later may have failed.
func (r Retry) warning() string {
	reason := abbreviate(r.Reason, maxReason)
	if r.Try > 0 {
		return fmt.Sprintf("try %d of %d failed: %s", r.Try, r.Max, reason)
	}
	return reason
}

// withWarning adds the last warning of the agent to an error; "" is none.
func (p profile) withWarning(err error, warning string) error {
	if warning == "" {
		return err
	}
	return fmt.Errorf("%w; last warning of %s: %s", err, p.name, warning)
}

// verdictError returns the error of a turn with a verdict, after the last warning; "" is none.
func (p profile) verdictError(v verdict, warning string) error {
	if !v.failed {
		return nil
	}
	reason := cmp.Or(apiMessage(v.message), warning, "it gives no reason")
	return p.failure(reason, p.remedy(reason))
}

// unfinished returns the error of an agent that exited without a verdict; a nil exit is exit code
// 0. unparsed is an excerpt of the first line that is not in the agent's format.
func (p profile) unfinished(exit *process.ExitError, stderr, warning, unparsed string) error {
	reason := "it exited with code 0"
	if exit != nil {
		reason = "it " + exit.Status()
	}
	reason += " before its turn was finished"
	switch {
	case warning != "":
		reason += ": " + warning
	case unparsed != "" && (exit == nil || stderr == ""):
		reason = fmt.Sprintf("%s, and printed “%s”, which is not the expected format", reason, unparsed)
		return p.failure(reason, remedyCommand)
	case stderr != "":
		reason += ": " + stderr
	}
	return p.failure(reason, p.remedy(reason))
}
