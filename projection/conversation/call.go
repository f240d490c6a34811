package conversation

import (
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// A Call is a tool call of a turn, as far as it is known.
type Call struct {
	Seq     uint64 // of the tool.started; 0: its start was not seen
	Started projection.ToolStarted
	Time    time.Time // of the start; zero: unknown
	At      int64     // length in bytes of the part of the reply that precedes it
	Answer  *projection.PermissionAnswered
	Result  *projection.ToolCompleted // nil: it has none
	Bypass  *projection.PermissionBypassed
	Took    time.Duration // from the start to the result, without the wait for a person's answer
	Over    bool          // the turn ended without a result

	began time.Time // Time, or when a person answered
}

// CallState says how far a tool call is.
type CallState string

// The states.
const (
	Running  CallState = "running"
	OK       CallState = "ok"
	Failed   CallState = "failed"
	Refused  CallState = "refused"  // by a person, by the permissions of the member, or for want of an answer
	Bypassed CallState = "bypassed" // done without the permission that it needs
	NoResult CallState = "no result"
)

// State returns how far the call is. A refused call stays refused whatever the agent reports of it.
func (c Call) State() CallState {
	switch {
	case c.Bypass != nil:
		return Bypassed
	case c.Answer != nil && !c.Answer.Allowed && (c.Result != nil || c.Over):
		return Refused
	case c.Result != nil && c.Result.Error != "":
		return Failed
	case c.Result != nil:
		return OK
	case c.Over:
		return NoResult
	}
	return Running
}

// answer adds the answer to a request for permission. A tool does nothing before it.
func (c *Call) answer(p projection.PermissionAnswered, at time.Time) {
	c.Answer = &p
	if p.By != projection.ByPolicy {
		c.began = at
	}
}

// complete adds the result.
func (c *Call) complete(p projection.ToolCompleted, at time.Time) {
	c.Result = &p
	if !c.began.IsZero() {
		c.Took = max(0, at.Sub(c.began))
	}
}
