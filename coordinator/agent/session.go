package agent

import (
	"context"
	"errors"
	"iter"
)

// A SessionEngine has agents that remember their turns, in sessions that their programs keep.
type SessionEngine interface {
	Engine
	// Open starts the program of the turn's member with a session from the origin, and blocks until the session is
	// known to exist. It sends no prompt. The session belongs to the caller, who closes it.
	//
	// Open uses all of the turn but its ID, Prompt, Said, Limit and Permit; what it starts carries the ID. An error
	// wraps ErrGone, ErrBusy or ErrUnsupported if a new session helps; other errors are those of Run.
	Open(ctx context.Context, turn Turn, origin Origin) (Session, error)
}

// An Origin is where a session comes from. The zero Origin is a new session.
type Origin struct {
	Way Way
	ID  string // of the agent's session; must have the form of the ids of the agent: others are ErrGone
	// Point is the last point that the session is to have; "" is its end. With Resume, a session that has others
	// after it is forked: something else has continued it.
	Point string
}

// A Way is how a session begins.
type Way int

// The ways.
const (
	New    Way = iota
	Resume     // the session with the ID is continued
	Fork       // the new session begins with a copy of it
)

// The errors of Open after which a new session can be used.
var (
	ErrGone        = errors.New("the agent does not have the session any more")
	ErrBusy        = errors.New("another process uses the session")
	ErrUnsupported = errors.New("the agent cannot continue the session in this way")
)

// A Session is a session of an agent's program, which runs until Close. Its methods are not safe for concurrent use.
type Session interface {
	// ID is the agent's id of the session. That of a fork differs from its origin's. "": the agent gives a new session
	// its id in the first turn, which reports it as SessionStarted.
	ID() string
	// Turn runs a turn as Run does. It uses only the ID, Prompt, Said, Limit and Permit of the turn. After a
	// turn that could not be stopped in the protocol, the program is ended: Alive reports false.
	Turn(ctx context.Context, turn Turn) iter.Seq2[Event, error]
	// Alive reports whether the program runs and can take another turn. One that runs for a single turn cannot.
	Alive() bool
	// Close ends the program and everything that it started, and blocks until they have ended. The agent keeps
	// the session, unless the turn of Open was Ephemeral.
	Close()
}

// A ModelLister is a Session whose agent has said which models it has.
type ModelLister interface {
	Session
	// Models returns the names of the models, as Member.Model has them; none: the agent has not said. Some say it
	// during a turn.
	Models() []string
}

// Point is a position in the agent's session that Origin.Point can name: the end of the turn so far. The last one of a
// turn counts.
type Point struct{ ID string }

// Compacted reports that the agent has replaced the earlier part of its session by a summary. The counts are tokens
// of its context; 0 is unknown.
type Compacted struct{ Before, After int64 }

func (Point) event()     {}
func (Compacted) event() {}
