// Package projection defines the events of a session and the folds over them.
//
// A session is a conversation between people and agents, kept as a journal. A
// projection is a value computed from the events of a journal, in order. There are
// three folds:
//
//	State     bounded, whatever the length of the session: title, task, statistics,
//	          speakers, open turns, the newest messages. A conversation resumes from
//	          it, and checkpoints store it.
//	Timeline  a row for each turn, message and change of task or title: speaker, time,
//	          duration, tools, cost, the first words.
//	Snapshot  every message, in the session snapshot format v1.0, which other
//	          versions of agent-chatter read.
//
// Replay iterates over the conversation as people see it, with the partial replies of
// unfinished turns, and with the steps of each turn in the order of its text: tool calls
// and plans. State.Newest is its end as far as the State has it.
//
// The package is pure: it opens no files and reads no clock, so that the same events
// always give the same result. Folding all events equals folding some, storing the
// State, and folding the rest.
//
// Package journal stores events and does not interpret their data. Package catalog
// caches folds on disk, and package interchange converts the sessions of other programs
// to events. Package coordinator appends events and folds them immediately.
//
// # Events
//
// Each payload is a struct named after the type of its event: TurnEnded is the data of
// turn.ended. Record converts a payload to an event, Decode an event to its payload. A
// session begins with session.created.
//
//	session.created, session.resumed, session.renamed, session.pinned,
//	session.ended, session.imported
//	task.set
//	member.changed, budget.changed
//	files.captured, files.changed, files.restoring, files.restored, files.dropped
//	worktree.created, worktree.merged, worktree.dropped
//	message.appended
//	queue.changed
//	turn.started, turn.text, turn.steered, turn.ended, input.received
//	tool.started, tool.completed, permission.answered, permission.bypassed
//	plan.updated
//	agent.attached, agent.compacted, summary.written
//	journal.recovered, journal.sealed (which package journal appends)
//
// Retention records its actions in a separate journal of the team, with these types:
//
//	session.archived, session.trashed, session.purged
//
// # Versions
//
// Fields are only added. A payload whose shape has to change gets "v":2 and an
// upcaster, a pure function from the old shape to the new one. Stored lines are never
// changed. Events of unknown types are counted and skipped. A newer version of a
// payload or of the journal format sets State.Newer: the known fields and events can be
// read, but appending could corrupt the session.
package projection
