package agent

import "encoding/json"

// An Event is one thing that happened in a turn: a [Text], [ToolStarted], [ToolCompleted],
// [Usage], [Session] or [Alive]. Consumers ignore the kinds that they do not use.
type Event interface{ event() }

// Text is a piece of the reply. Pieces come in order, are not empty, and never cut a valid UTF-8
// sequence. If the reply is not valid UTF-8, neither are they.
type Text struct{ Text string }

// ToolStarted reports that the agent uses a tool.
type ToolStarted struct {
	ID    string          // the agent's id of this use, unique within the turn
	Name  string          // the tool's name, as the agent calls it
	Input json.RawMessage // nil if unknown
}

// ToolCompleted reports that a tool has ended. Its ID is that of a ToolStarted, but an agent may
// report the end of a tool whose start it never announced.
type ToolCompleted struct {
	ID     string
	Name   string
	Output string // of any length
	Error  string // "" if the tool succeeded
}

// Usage is the number of tokens that the turn has used so far. The last one of a turn counts; they
// are not added up.
type Usage struct{ InputTokens, OutputTokens int64 }

// Session is the agent's own id of its session. The last one of a turn counts.
type Session struct{ ID string }

// Alive reports that the agent is at work, for example that it thinks. Retries after a failure are
// not reported.
type Alive struct{}

func (Text) event()          {}
func (ToolStarted) event()   {}
func (ToolCompleted) event() {}
func (Usage) event()         {}
func (Session) event()       {}
func (Alive) event()         {}
