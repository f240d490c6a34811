// Package conversation folds the events of a session into what people see.
//
// An [Item] is what a page shows as a unit: a turn of an agent, a message without a turn, or a change of the session.
// A [Delta] is what an event, or a piece of streamed text, adds to an item: the start of a turn, text, a tool call, its
// result, a plan, the message of the turn, its end. A Conversation turns events into deltas; items are collected from
// deltas. Every surface (terminal, pipe, page, exported document, editor, quotation) shows items or deltas. None pairs
// the events of a turn by itself, so that a session looks the same while it happens, in a replay and on a page.
//
//	events ── Conversation.Apply ──> deltas ── Sequence ──> terminal, editor
//	                                        └─ Items ─────> page, pipe, export
//
// # Open turns
//
// Any number of turns may be open. A turn ends with its turn.ended. Without one it is unfinished, and ends as soon as
// another event shows that nothing of it follows: a turn of the same member starts, the program was started again
// (session.resumed) and something is said, or a person speaks after the message of the turn. [Conversation.Close] ends
// those that are left.
//
// The deltas of open turns are in the order of their events. A [Sequence] delays those of every turn but the oldest,
// for surfaces that show one thing after the other.
//
// # Text
//
// The text of a turn, as its deltas have it, is what its message will have: it ends before the first marker that is not
// in a code block, which the message lacks, and blanks are held until more text follows them. So the concatenated texts
// of a turn are its message, in whatever pieces they arrive, unless removing a marker joined parts of a secret: then
// [Replied] has the whole message.
//
// # Chunks
//
// A [Chunk] is a run of events that can be laid out alone, without the events before it. Chunks are read forwards and
// backwards from any place of a journal, and end where no turn is open, as far as their bounds allow.
package conversation
