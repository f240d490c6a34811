package agent

import (
	"context"
	"fmt"
	"iter"
)

// TurnVariable is the environment variable that every process of a turn carries, with the
// turn's id as its value.
const TurnVariable = "AGENT_CHATTER_TURN"

// OwnerVariable is the environment variable that says which program a process of a turn belongs
// to, where TurnVariable can be found again. What has no such variable belongs to nobody.
const OwnerVariable = "AGENT_CHATTER_OWNER"

// An Engine runs turns, several at once if need be. What a turn is told and may know is in the
// Turn: whatever an engine keeps between turns only saves time.
type Engine interface {
	// Run returns the turn as a sequence of events; nothing starts before the sequence is
	// ranged over. Ranging blocks while the agent works, and keeps to the contract in the
	// package comment: a non-nil error is the last pair; once ctx is done the last error
	// wraps context.Cause(ctx); when the loop is over, so is everything that it started.
	Run(ctx context.Context, turn Turn) iter.Seq2[Event, error]
}

// A Limited is an engine that does not take prompts of any length.
type Limited interface {
	Engine
	// Excess is by how many bytes a prompt has to become shorter at least for the member; 0 when
	// it is short enough. Run refuses what is too long.
	Excess(m Member, prompt string) int
}

// A Lasting is an engine that keeps programs running between turns.
type Lasting interface {
	Engine
	// Close ends what no turn uses. It blocks until it has ended; another turn starts it again.
	Close()
}

// A Turn is what one member is asked at one time. Engines only read it.
type Turn struct {
	// ID is the turn's id, unique among all turns. Every process that the turn starts
	// carries it in its environment, as AGENT_CHATTER_TURN.
	ID string
	// Member is who answers.
	Member Member
	// Prompt is everything the agent is told.
	Prompt string
	// Said is the message that is answered, for engines that need no prompt.
	Said Said
	// Dir is the working directory of what the turn starts; "" is the current one.
	Dir string
	// Permit decides what an agent asks leave for. It may block until ctx is done, and keep the
	// consumer from its events meanwhile: ctx is done as soon as that of Run is, and when the turn
	// has ended. It may be called from any goroutine; nil allows nothing.
	Permit func(ctx context.Context, asked Permission) bool
}

// Said is the message that a turn answers.
type Said struct {
	Speaker string // the speaker's display name; "" when nobody is known
	Text    string // without markers
}

// A Member is what an engine needs to know of the team member that it speaks for.
type Member struct {
	ID, Name, DisplayName string

	// AgentType, Engine and Model are the team's words for what answers. Engines that have
	// no choice of model ignore them.
	AgentType, Engine, Model string
	// Permissions is what the agent may do; its values are the engine's. "" is what the agent
	// is set up to do by itself. The engine ACP leaves the decision to Turn.Permit.
	Permissions string

	// Endpoint is the address of an API, without "/chat/completions"; APIKeyEnv names the
	// variable, in Env or in this program's environment, that has its key; "" is no key.
	Endpoint, APIKeyEnv string

	// Command is the program to run: a name that is looked up in PATH, or a path, which is
	// relative to Turn.Dir unless it is absolute. It is never given to a shell.
	Command string
	// Args are its arguments, without the program's name.
	Args []string
	// Env is added to the program's environment and wins over what is there; a PATH in it
	// is also where Command is looked up.
	Env map[string]string

	// Next is the name of the member that the demo engine hands over to; "" hands to nobody.
	Next string
}

// stopped is the last error of a turn whose ctx was done.
func stopped(ctx context.Context) error {
	return fmt.Errorf("the turn was stopped: %w", context.Cause(ctx))
}
