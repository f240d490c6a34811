// Package agent contains the engines, which run the turns of AI members.
//
// An [Engine] takes a [Turn], one prompt to one member, and yields [Event] values while the agent
// works: pieces of its reply, the tools that it uses, the tokens that it used. The reply is the
// concatenation of the [Text] events, unchanged: an engine neither trims it nor parses markers.
// The coordinator does that, and decides which engine runs which member.
//
// # The contract of every engine
//
//   - The sequence yields events. A non-nil error is the last pair, its event is nil, and it
//     means that the turn failed; the text before it is a partial reply.
//   - When the context is done the engine stops everything that the turn started, and the
//     last error wraps [context.Cause]. This holds until the sequence has ended: an agent that
//     exits with code 0 because it was interrupted has not finished its turn.
//   - A consumer that leaves the loop early stops the turn in the same way.
//   - When the iterator returns, no process of the turn's process group is alive, except an agent
//     that a [Resident] engine or a [Session] keeps for the next turn.
//   - A sequence may be ranged over repeatedly; each time is a turn.
//
// # Sessions
//
// A [SessionEngine] opens a [Session], in which an agent remembers its turns. The coordinator decides
// which session a turn continues, and what its prompt brings.
//
// # The engines
//
// [Demo] needs no program, no network and no account, and its replies are deterministic. [Command]
// runs any program that reads the prompt from standard input and writes its reply to standard
// output. [Claude] runs Claude Code, [Codex] the server of Codex, and [ACP] any agent that speaks the
// Agent Client Protocol; [Gemini] is one for Gemini CLI. [Agy] runs the Antigravity CLI. [OpenAI] requests chat
// completions of a model from an API.
//
// Each registers an [Info], by which the rest of the program knows it, and the agents that it runs as
// [Known]: a new engine, or a new agent, is one file.
//
// # Processes
//
// Package process describes how the programs of a turn are run and ended. A program that stays
// between turns carries the id of the turn that started it, and so does everything that it starts
// later. If it has to be ended because a turn was stopped, all of that is ended.
//
// # Errors
//
// A turn fails with a *process.StartError if its program could not be started, a
// *process.ExitError if a [Command] failed, and a [FailureError] if an agent has not finished its
// turn. All but the second have a hint (package hint).
//
// # Trust
//
// Replies and error messages may contain anything, including control sequences and invalid UTF-8.
// Engines pass them on unchanged; the program that displays them must make them safe.
package agent
