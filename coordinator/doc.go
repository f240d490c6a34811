// Package coordinator runs the conversation of a team and decides who speaks next.
//
// A conversation has a team of humans and agents and a queue of members who speak next. The
// Coordinator appends what a human says to the session, runs the queued agents one after another,
// records what they do, and returns when a human is next.
//
// Data flows one way:
//
//	input -> Coordinator.Say -> store.Log.Append -> State.Apply -> Listener
//
// Resuming a session is the same path without input: its events are folded into the same State.
//
// # Packages
//
//	team    team files and the registry of agents
//	store   the sessions of teams, in files or in memory
//	agent   the engines that run agents
//	redact  finding secrets in text
//	hint    remedies that errors carry
//
// # Queue
//
// The markers of a message name who speaks next; queue.go defines the order. The queue is not
// recorded. Changes that do not follow from messages and turns alone (a member was preferred,
// demoted, skipped or dropped) are recorded as queue.changed, with the reason, before the next turn
// or before a human is next.
//
// # Turns
//
// The human's message is appended and its markers fill the queue. For each queued agent
// turn.started is appended and everything is synced; then the agent runs, and its tools and partial
// text are appended as they come; then its message and turn.ended. The markers of the message fill
// the queue further. A turn that fails, times out or is canceled ends with that reason and the
// partial reply, whose markers are ignored.
//
// # Durability
//
// Everything is durable before an agent starts, when control returns to a human, and after Stop. If
// the journal cannot be written, the conversation continues in memory, the Listener is notified, and
// the next save appends what is missing. What is only in memory is bounded: a turn that exceeds the
// bound fails with a HeldError, and the next one starts after a save.
//
// # Secrets
//
// Secrets in messages, replies, tool calls and errors are replaced before they become events, so
// that memory, prompts and the disk agree.
//
// # Restore
//
// SetTeam with a session ID clears all state, opens the session, compares its team, reports members
// that are missing or have changed, and ends orphaned processes. The queue stays empty: no agent
// starts and nothing is written before the first message. After a failed restore the Coordinator
// has a team and no session.
package coordinator
