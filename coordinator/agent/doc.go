// Package agent holds the members' engines: what runs one turn of one AI member.
//
// An [Engine] takes a [Turn], everything that is to be said to one agent at one time, and
// yields [Event] values as the agent works: pieces of its reply, the tools that it uses, what
// it cost. The reply is the concatenation of the [Text] events, untouched: an engine neither
// trims it nor looks for markers in it. That is the coordinator's work, as is the decision
// which engine answers for which member.
//
// # The contract of every engine
//
//   - The sequence yields events. A non-nil error is the last pair, its event is nil, and it
//     means that the turn failed; what was said before it is a partial reply.
//   - When the context is done the engine stops everything that the turn started, and the
//     last error wraps [context.Cause]. This holds until the sequence has ended: an agent that
//     ends with exit code 0 because it was interrupted has not finished its turn.
//   - A consumer that leaves the loop early stops the turn in the same way.
//   - When the iterator returns, no process of the turn's process group is alive; but what a
//     [Lasting] engine keeps for the next turn is, until Close.
//   - A sequence may be run more than once; every run is a turn of its own.
//
// # The engines
//
// [Demo] needs no program, no network and no account, and gives the same words for the same
// turn. [Command] runs any program that reads the prompt from standard input and writes its
// reply to standard output. A [CLI] runs a coding agent that tells its turn in lines of JSON:
// [Claude], [Codex], [Gemini]. [ACP] speaks the Agent Client Protocol with any agent that does.
// [OpenAI] asks a model behind an API for chat completions.
//
// # Processes
//
// Every process that a turn starts carries AGENT_CHATTER_TURN with the turn's id in its
// environment. Agents run their tools in sessions of their own, where a signal to the agent's
// process group does not reach them; the variable is how those are found and ended on Linux
// when a turn is stopped, with the agent's descendants, which may have thrown theirs away. A turn
// that ends by itself leaves them alone: a server that an agent was asked to start is meant to
// stay. AGENT_CHATTER_OWNER says which process they belong to, so that another one that has a copy
// of the session leaves them alone while that one lives.
// Elsewhere than on Linux they are left alone always.
//
// A program that stays between turns carries the id of the turn that started it, and so does
// whatever it starts later. When it has to be ended because a turn was stopped, all of that is.
//
// # What is not trusted
//
// Replies and standard error may hold anything, control sequences and invalid UTF-8 included.
// Engines pass text on as it came; whoever shows it makes it harmless.
package agent
