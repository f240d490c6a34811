// Package updates translates the events of a session into the session updates of the Agent Client Protocol.
//
// A Translator gets the events in order, either as the coordinator appends them ([Translator.Event], [Translator.Text]
// and [Translator.Notice]) or from a journal ([Translator.Replay], then [Translator.EndReplay]). A session that was
// replayed continues with the same Translator. It is pure: it reads no clock and opens no files. It is for one
// goroutine, as a coordinator.Listener is.
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
//   - Text from the first marker on is sent when the message is complete, since a message has no markers.
//   - The heading depends on events alone. It begins with a blank line unless the message is the first one after that
//     of a person, for clients that join the texts of an answer.
//   - A notice, which no journal has, is sent between messages, never inside.
//
// One message cannot be told in advance: if removing a marker joins the parts of a secret, the message does not begin
// with what was streamed. It is then sent once more as a whole, after another heading; a replay may lack the first
// piece.
//
// # Metadata
//
// Each update has _meta with the member "agent-chatter": the ID ("member") and the displayed name ("name") of the member
// that it is about, its turn ("turnId"), the event in the journal that has it ("seq"; a streamed text has none), and
// "added": true for a text that no member wrote: a heading, a closing fence, the reason of a failure. A notice has
// "notice": true instead of a member.
package updates
