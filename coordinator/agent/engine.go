package agent

import (
	"context"
	"iter"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// An Engine runs turns, also concurrently. Everything that the agent of Run is to know is in the Turn:
// what an engine keeps between such turns only saves time. The agent of a [SessionEngine] also knows the
// earlier turns of its session.
type Engine interface {
	// Run returns the turn as a sequence of events; nothing starts before the sequence is
	// ranged over. Ranging blocks while the agent works. It follows the contract in the package
	// comment: a non-nil error is the last pair; if ctx is done the last error wraps
	// context.Cause(ctx); when the loop ends, so has everything that it started.
	Run(ctx context.Context, turn Turn) iter.Seq2[Event, error]
}

// A Limited engine has agents that take prompts of limited length only.
type Limited interface {
	Engine
	// Excess returns a lower bound of the bytes by which a prompt is too long for the member; 0 if it is
	// short enough. Run refuses prompts that are too long.
	Excess(m Member, prompt string) int
}

// A Resident engine keeps agents running between turns.
type Resident interface {
	Engine
	// Close ends the agents that no turn uses and blocks until they have ended. A later turn
	// starts them again.
	Close()
}

// A Turn is one prompt to one member. Engines only read it.
type Turn struct {
	// ID is unique among all turns. Every process that the turn starts carries it in its
	// environment, as process.TurnVariable.
	ID     string
	Member Member
	// Prompt is everything that the agent gets.
	Prompt string
	// Images are the pictures of the messages in the prompt, which names each by its label. An engine takes them if its
	// Info.MaxImage is not 0; an agent of it that takes none is reported as Unsupported SettingImages.
	Images []Image
	// Said is the message that triggered the turn, for engines that need no prompt.
	Said Said
	// Dir is the working directory of the agent; "" is the current one.
	Dir string
	// Limit is how long the turn may take, without the time that the user takes to answer a
	// question; zero is no limit. ctx is done then, and an engine need not wait for what comes later.
	Limit time.Duration
	// Ephemeral is whether the agent need not keep its session after the turn.
	Ephemeral bool
	// MCPServers are the servers that the agent may use beside its own. Their names differ. An engine or an
	// agent that does not take one reports it as Unsupported.
	MCPServers []MCPServer
	// Editor serves an agent that can use one; nil is none: the agent uses its own files and terminals.
	Editor Editor
	// Guard ends the turn's processes when this process dies; nil is none.
	Guard *process.Guard
	// Permit decides whether an agent may use a tool; nil allows nothing. It may block until ctx
	// is done: when the ctx of Run is, and when the turn has ended. It is called concurrently.
	Permit func(ctx context.Context, asked Permission) Grant
}

// Said is the message that triggered a turn.
type Said struct {
	Speaker string // the display name; "" if unknown
	Text    string // without markers
}

// A Member is what an engine needs to know about a team member.
type Member struct {
	ID, Name, DisplayName string

	// AgentType and Model are as in the team file. Engines without a choice of model ignore
	// Model.
	AgentType, Model string
	// Thinking is whether the model reasons before it replies; nil is the agent's own configuration.
	// An engine or an agent without that choice reports it as Unsupported.
	Thinking *bool
	// Permissions is what the agent may do: one of Policies, or "" for the agent's own configuration.
	Permissions string

	// Endpoint is the address of an API, without "/chat/completions".
	Endpoint string
	// APIKeyEnv is the name of the variable with its key, in Env or in the environment of this
	// process; "" is no key.
	APIKeyEnv string
	// Headers are added to the requests to an API, and override its own. They may be secrets.
	Headers map[string]string

	// Command, Args and Env are the agent's program, as in process.Program.
	Command string
	Args    []string
	Env     map[string]string

	// Next is the name of the member to which the demo engine hands over; "" is none.
	Next string
}

// program returns the turn's program.
func (t Turn) program() process.Program {
	m := t.Member
	return process.Program{TurnID: t.ID, Command: m.Command, Args: m.Args, Env: m.Env, Dir: t.Dir, Guard: t.Guard}
}
