// Package coordinator decides who speaks next.
//
// A conversation is a team, people and agents, with a queue of members who are
// to speak. The Coordinator takes what a person says, records it, asks the
// agents in the queue one after another, records what they do as they do it,
// and gives control back when a person is next.
//
// Data flows one way:
//
//	a person types -> Coordinator.Say -> SessionLog.Append -> State.Apply -> Events
//
// Going on with an earlier session is the same path without the typing: the
// journal is folded into the same State. There is no second way to build it.
//
// # Rooms
//
// The program is a house of four rooms, and each imports only those behind it:
//
//	cmd/agent-chatter   the commands and the screen
//	coordinator         who speaks next
//	  agent             the engines that run a member's turns; knows nobody
//	  redact            what is a secret in a text; knows nobody
//	  storetest         the suite that every Store passes
//	projection          what events mean: the folds, pure
//	  catalog           caches on the disk: lists and checkpoints
//	  interchange       sessions of other programs
//	journal             the log of a session: bytes, lines, sums, files, locks
//	  journaltest       the file system that fails when a test says so
//
// Anybody may import schemas, the formats as JSON Schemas.
//
// A Store keeps sessions: FileStore in journals below a directory, by way of
// the catalog; MemoryStore nowhere.
//
// # The queue
//
// The markers of a message say who is to speak, and queue.go who is next. What
// the messages and the turns do not tell of it by themselves (who was preferred,
// dropped or skipped, and why) is recorded as queue.changed, in the batch with
// the next turn or before a human is next. The queue itself is recorded nowhere.
//
// # Turns
//
// The human's message is appended; its markers fill the queue. For each agent
// in it: turn.started is appended, everything is synced, the agent runs, its
// tools and the text so far are appended as they come, then its message and
// turn.ended. Its markers fill the queue further. A turn that fails, times out
// or is cancelled ends with that reason; what it said so far is kept as
// partial, its markers are not obeyed.
//
// # Secrets
//
// What people, agents and tools say, and what goes wrong, is kept without
// secrets: they are replaced before it becomes an event, so that memory, prompt
// and disk agree, and Events hears how many there were.
//
// # Save points
//
// Control returns to the human, a turn is cancelled, the conversation ends: at
// these points everything is on the disk. A save that fails never ends a
// conversation. It goes on in memory, Events hears of it each time, and the
// next save point appends what is missing.
//
// # Restore
//
// SetTeam with a session goes through these steps: all state is cleared; the
// session is opened and its team compared; speakers that the team has no more
// are named, never renamed; the state is taken over; the queue stays empty. No
// agent starts before a human has spoken, and nothing is written before that.
// A failed restore leaves a coordinator with a team and without a session.
package coordinator
