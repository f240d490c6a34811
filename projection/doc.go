// Package projection says what the events of a session mean.
//
// A session is a conversation between people and agents, kept as a journal. A
// projection is anything that is computed from its events: this package has
// two, folds over the same events in the same order.
//
//	State     bounded, whatever the length of the session: title, task,
//	          statistics, speakers, unfinished turns, the newest messages. It is
//	          what a conversation goes on from, and what a checkpoint holds.
//	Snapshot  complete: every message, in the session snapshot format v1.0 that
//	          other versions of agent-chatter read.
//
// Replay is the third reading of the same events: the conversation as people
// see it, with what unfinished turns left.
//
// Below it, package catalog keeps folds on the disk as caches, and package
// interchange turns other programs' sessions into events. Behind it is package
// journal, which knows lines and not what they mean; in front of it package
// coordinator, which appends events and folds them at once.
//
// The package is pure: it opens no files and asks no clock, so that the same
// events always give the same result. Folding all events is the same as
// folding some, keeping the State, and folding the rest.
//
// # Events
//
// Every payload is a struct of this package, named after its type: TurnEnded is
// the data of turn.ended. Record makes an event of a payload, Decode the
// reverse. A session begins with session.created.
//
//	session.created, session.resumed, session.renamed, session.pinned,
//	session.ended, session.imported
//	task.set
//	message.appended
//	queue.changed
//	turn.started, turn.text, tool.started, tool.completed, turn.ended
//	journal.recovered (which package journal appends)
//
// # Versions
//
// Fields are only ever added. A payload that has to change its shape gets
// "v":2 and an upcaster, a pure function from the old payload to the new one;
// written lines are never changed. Unknown types are counted and skipped. A
// newer payload version or journal format makes State.Newer true: what is known
// can be read, but nobody should append.
package projection
