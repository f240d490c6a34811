package conversation

import (
	"time"

	"github.com/agent-chatter/agent-chatter/projection"
)

// A Delta is what an event, or streamed text, adds to a conversation. Its type says what: [Began], [Text], [Called],
// [Permitted], [PermissionBypassed], [Completed], [Planned], [Steered], [Replied], [Ended], [Said] or [Changed]. Deltas
// are values: they do not change when others follow. The memory that they refer to is shared and not to be modified.
type Delta interface{ of() Source }

// A Source is the event that a delta comes from.
type Source struct {
	Seq  uint64    // 0: text that streams, or the end of what was read
	Time time.Time // of the event; zero: it has none
}

func (s Source) of() Source { return s }

// SourceOf returns the event that a delta comes from.
func SourceOf(d Delta) Source { return d.of() }

// Began starts a turn.
type Began struct {
	Source
	Turn *Turn
}

// Text is text that a turn adds to its reply.
type Text struct {
	Source
	Turn *Turn
	Text string // not ""
}

// Called starts a tool call.
type Called struct {
	Source
	Turn *Turn
	Call Call
}

// Permitted is an answer to the request of a turn for permission to make a tool call.
type Permitted struct {
	Source
	Turn   *Turn
	Answer projection.PermissionAnswered
}

// PermissionBypassed is a tool call that a turn made without the permission that it needs.
type PermissionBypassed struct {
	Source
	Turn   *Turn
	Bypass projection.PermissionBypassed
}

// Completed is the result of a tool call. The Call has no Started.Name if its start was not seen and its result does
// not name the tool.
type Completed struct {
	Source
	Turn *Turn
	Call Call
}

// Planned is the first todo list of a turn, or one that differs from the one before. It may be empty.
type Planned struct {
	Source
	Turn *Turn
	Plan projection.PlanUpdated
	At   int64 // length in bytes of the part of the reply that precedes it
}

// Steered is a message that was said before, and that the agent of a turn has taken.
type Steered struct {
	Source
	Turn      *Turn
	MessageID string
}

// Replied is the message of a turn.
type Replied struct {
	Source
	Turn    *Turn
	Message projection.Message
	Rest    string // what the message has after the text of the deltas so far
	Whole   bool   // the message does not begin with that text: it is to be shown whole, and Rest is the whole
	Common  int64  // length in bytes of what the message and the recorded text have in common
}

// Ended ends a turn. End is nil if the journal lacks it: the turn is unfinished.
type Ended struct {
	Source
	Turn    *Turn
	End     *projection.TurnEnded
	Rest    string // of a turn without a message: what its partial reply has after the text of the deltas so far
	Common  int64  // as in Replied, of the partial reply
	Partial string // the partial reply, if the turn has no message: that of End, or what is recorded
	Open    []Call // calls without a result, in their order
}

// Said is a message that belongs to no turn, such as a person's.
type Said struct {
	Source
	Message     projection.Message
	Attachments []projection.File
}

// Text returns the message as people see it: with its files.
func (d Said) Text() string { return projection.WithFiles(d.Message.Content, d.Attachments) }

// Changed is an event of the session itself: its start, task, title, import, queue and so on. Payload is one of the
// payloads of package projection.
type Changed struct {
	Source
	Payload projection.Payload
}

// TurnOf returns the turn of a delta; nil: it has none.
func TurnOf(d Delta) *Turn {
	switch d := d.(type) {
	case Began:
		return d.Turn
	case Text:
		return d.Turn
	case Called:
		return d.Turn
	case Permitted:
		return d.Turn
	case PermissionBypassed:
		return d.Turn
	case Completed:
		return d.Turn
	case Planned:
		return d.Turn
	case Steered:
		return d.Turn
	case Replied:
		return d.Turn
	case Ended:
		return d.Turn
	}
	return nil
}
