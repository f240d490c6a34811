package agent

import (
	"encoding/json"
	"fmt"
	"time"
)

// An Event is one thing that happened in a turn: a [Text], [ToolStarted], [ToolCompleted], [Plan],
// [Usage], [SessionStarted], [Point], [Compacted], [Retry], [Notice], [Bypassed], [Unsupported] or [Alive]. Consumers
// ignore the kinds that they do not use.
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
	// Omitted is the number of bytes after Output that the engine has not kept.
	Omitted int64
}

// Plan is the agent's todo list as it stands. It replaces the previous one of the turn.
type Plan struct{ Entries []PlanEntry }

// A PlanEntry is one item of a todo list, in the agent's words.
type PlanEntry struct {
	Content  string
	Status   string // usually pending, in_progress or completed
	Priority string // "" if the agent has none
}

// Usage is what the turn has used so far, in tokens; 0 is unknown or none. The last one of a turn
// counts; they are not added up. No token is counted in two fields.
type Usage struct {
	Input       int64 // not from a cache
	CachedRead  int64
	CachedWrite int64
	Output      int64 // without Thought
	Thought     int64
	Cost        *Cost // nil if the agent does not report it
	// Total is the cost of the agent's session so far; nil if the agent does not report it. Without a Cost, that of the
	// turn is what it has grown.
	Total *Cost

	// Context is how many tokens are in the context window after the turn, and Window is how many it holds. Both are 0
	// if the agent does not report them.
	Context, Window int64
}

// Cost is an amount of money.
type Cost struct {
	Amount   float64
	Currency string // as in ISO 4217
}

func (c *Cost) String() string {
	if c == nil {
		return "unknown"
	}
	return fmt.Sprintf("%g %s", c.Amount, c.Currency)
}

// separate returns the usage with the thought subtracted from the output, if it is a part of it.
// Agents differ in that, and total, the number of all tokens, tells; a total of 0 is unknown.
func (u Usage) separate(total int64) Usage {
	all := u.Input + u.CachedRead + u.CachedWrite + u.Output + u.Thought
	if total == 0 || total < all {
		u.Output = max(0, u.Output-u.Thought)
	}
	return u
}

// add adds the tokens of a request.
func (u *Usage) add(of Usage) {
	u.Input += of.Input
	u.CachedRead += of.CachedRead
	u.CachedWrite += of.CachedWrite
	u.Output += of.Output
	u.Thought += of.Thought
}

// SessionStarted is the agent's own id of its session. The last one of a turn counts.
type SessionStarted struct{ ID string }

// Retry reports that a request of the agent has failed and that the agent repeats it. It is no sign
// of life: a turn without any other event is idle.
type Retry struct {
	Reason   string        // why the request failed; may have several lines
	Wait     time.Duration // until the request is repeated; 0 if unknown
	Try, Max int           // the number of the failed request and of the last one; 0 if unknown
}

// Notice is what the agent's program has to say to the user, such as a warning. It is no part of the reply.
type Notice struct{ Text string } // may have several lines, at most 4 KiB

// Bypassed reports that a tool was used without the permission that it needs. The agent is stopped, and the turn fails.
type Bypassed struct {
	ToolID string // that of a ToolStarted or of a ToolCompleted
	Tool   string // the tool's name
	Title  string // what the tool did, in the agent's words; may be ""
}

// Unsupported reports that a setting of the member has no effect: the agent does not support it.
type Unsupported struct{ Setting string } // as in the team file

var unsupportedThinking = Unsupported{"thinking"}

// SettingMCPServers is the Setting for servers of Turn.MCPServers that are there for no setting of the member.
const SettingMCPServers = "mcpServers"

// Alive reports that the agent is at work, for example that it thinks.
type Alive struct{}

func (Text) event()           {}
func (ToolStarted) event()    {}
func (ToolCompleted) event()  {}
func (Plan) event()           {}
func (Usage) event()          {}
func (Retry) event()          {}
func (Notice) event()         {}
func (Bypassed) event()       {}
func (Unsupported) event()    {}
func (SessionStarted) event() {}
func (Alive) event()          {}
