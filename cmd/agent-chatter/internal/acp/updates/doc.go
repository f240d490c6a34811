// Package updates translates the events of a session into the session updates of the Agent Client Protocol.
//
// A Translator gets the events in order, either as the coordinator appends them ([Translator.Event] and
// [Translator.Text]) or from a journal ([Translator.Replay], then [Translator.EndReplay]). A session that was replayed
// continues with the same Translator. What the program itself says is a [Translator.Notice]. A Translator is pure: it
// reads no clock and opens no files. It is not safe for concurrent use.
//
// # Texts
//
// The texts that belong to one message, in their order, are: the heading, the content of the message, and the closing
// fence if the content ends in open code. For a turn without a message the content is its partial reply. The
// concatenated texts of a message are the same, byte for byte, whether it streams or is replayed, and in whatever
// pieces it streams:
//
//   - Blanks are sent with the text that follows them. Those at the end of a reply are never sent: the message lacks
//     them, and the journal may.
//   - Text from the first marker on that is not in a code block is sent when the message is complete: a message has no
//     such markers.
//   - The heading depends on events alone. It begins with a blank line unless the message is the first one after that
//     of a person, for clients that join the texts of an answer.
//   - Of turns that are open at the same time, the one that began first is sent as it takes place, and the others after
//     its end.
//   - A notice, which no journal has, is sent between messages, never inside.
//
// There are two exceptions. If removing a marker joins the parts of a secret, the message does not begin with what was
// streamed. It is then sent once more as a whole, after another heading; a replay may lack the first piece. And of a
// partial reply that exceeds the journal's limit for a line, the journal has only the beginning.
//
// # Metadata
//
// Each update has a value "agent-chatter" in its _meta:
//
//	member, name  the ID and the displayed name of the member that it is about
//	turnId        of its turn
//	seq           of the event in the journal that has it; a text that streams has none
//	added         true for a text that no member wrote: a heading, a closing fence, the reason of a failure
//	notice        true for a notice, which has no member
//	refused       true for the end of a tool call that was refused
//
// At the end of a turn a session_info_update also has finishReason, usage and totals, as the journal and its State have
// them. A usage_update, with the context of the member that has spoken and the cost of the session, follows if its
// agent reports the size of the context window.
package updates
