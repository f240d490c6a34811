package agent

import "encoding/json"

// An Event is one thing that happened in a turn: a [Text], [ToolStarted], [ToolCompleted],
// [Usage], [Session] or [Alive]. Consumers ignore the kinds that they have no use for.
type Event interface{ event() }

// Text is a piece of the reply. Pieces come in order, are never empty, and never cut a valid
// UTF-8 sequence in two; where the reply is not valid UTF-8, neither are they.
type Text struct{ Text string }

// ToolStarted says that the agent began to use a tool.
type ToolStarted struct {
	ID    string          // the agent's id for this use, unique within the turn
	Name  string          // the tool's name, as the agent calls it
	Input json.RawMessage // what the tool was given; nil when the agent does not say
}

// ToolCompleted says that a tool has ended. Its ID is that of a ToolStarted, but an agent may
// report the end of a tool whose start it never announced.
type ToolCompleted struct {
	ID     string
	Name   string
	Output string // unbounded
	Error  string // "" when the tool succeeded
}

// Usage is what the turn cost so far. The last one of a turn counts; they do not add up.
type Usage struct{ InputTokens, OutputTokens int64 }

// Session is the agent's own name of its session. The last one of a turn counts.
type Session struct{ ID string }

// Alive says that the agent is at work, and nothing else: it thinks, for example. That it tries
// again what has failed is not told.
type Alive struct{}

func (Text) event()          {}
func (ToolStarted) event()   {}
func (ToolCompleted) event() {}
func (Usage) event()         {}
func (Session) event()       {}
func (Alive) event()         {}
