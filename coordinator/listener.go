package coordinator

import (
	"context"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// Listener is notified of what happens in a conversation: a terminal, an editor or a log. Its
// methods except Ask are called in order, on the goroutine that called the Coordinator, which waits for them to return.
type Listener interface {
	// Event is called once for each event of the session, in order, after it was appended to
	// the journal or, as Unsaved says, kept in memory. Turns, messages and tool calls are events.
	Event(e Event)
	// Text is called for each part of a member's reply while it streams, between the events turn.started
	// and turn.ended of its turn. The message that the turn appends has all of them, without markers. They
	// are valid UTF-8.
	Text(turnID string, m team.Member, text string)
	// Ask asks the user for permission, or the Permission's Questions. It blocks until the user answers or ctx is done;
	// in the latter case the answer is ignored.
	// Each question has a goroutine of its own: several may be open at the same time, and meanwhile the other methods
	// are called.
	Ask(ctx context.Context, q Question) Answer
	// Notice is called for what is not an event, such as a reached limit.
	Notice(n Notice)
	// Status is called when the status changed.
	Status(s Status)
}

// Event is an event of the session with its decoded payload.
type Event struct {
	projection.Event
	// Unsaved is true if the journal could not be written. Seq, Sum and Synced are not final
	// then. A Written notice follows when the event is in the journal.
	Unsaved bool
}

// Question is a request for permission.
type Question struct {
	TurnID     string
	Member     team.Member
	Permission agent.Permission // without secrets
}

// Answer is the answer to a Question. The zero Answer is none.
type Answer struct {
	Decision Decision
	Reason   string     // of a refusal; may be "". The agent gets it if Permission.TakesReason.
	Device   string     // on which it was given; "": the terminal of the conversation
	Answers  [][]string // with Allowed, one for each of Permission.Questions, which fits it: see [agent.Question.Check]
}

// Decision is what the user decides on a Question.
type Decision int

const (
	Unanswered        Decision = iota // no user can be asked; the request is refused
	Allowed                           // this time
	AllowedForSession                 // this time, and the same request, if nothing is omitted, in this conversation
	AllowedAlways                     // from now on; Allowed unless the Permission offers it
	Refused
)

// Phase is what a conversation does.
type Phase string

const (
	Idle   Phase = "idle"   // there is no session yet, or no more
	Active Phase = "active" // an agent's turn
	Paused Phase = "paused" // a human is next
)

// Status is the state of a conversation.
type Status struct {
	Phase     Phase
	SessionID string // "" before the first message
	Waiting   string // the ID of the human who is next; "" if any human may speak
	Unsaved   bool   // events are only in memory because the journal could not be written
	// Capturing is how many files the capture before a turn has read; 0: it does not take long, or none runs. SkipFiles
	// ends it.
	Capturing int
}

// silent is a Listener that ignores everything.
type silent struct{}

func (silent) Event(Event)                          {}
func (silent) Text(string, team.Member, string)     {}
func (silent) Ask(context.Context, Question) Answer { return Answer{} }
func (silent) Notice(Notice)                        {}
func (silent) Status(Status)                        {}
