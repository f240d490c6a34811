// Package acp implements the acp command: a team is an agent in an editor that speaks the Agent Client Protocol.
//
// The command speaks the protocol on its standard streams for one client, until the client closes its end. Each session
// of the protocol is a session of the store, with the same id, and has a Coordinator of its own: what is written in an
// editor resumes in a chat, and the other way round.
//
// # Sessions
//
// A new session has an id before it has events. Its first prompt creates the journal, so that a session without a
// prompt leaves nothing. The directory that the client names is the working directory of the session, in which teams
// are looked up: a team file there must be trusted.
//
// # Concurrency
//
// The SDK calls each method on a goroutine of its own. A session's Coordinator is used under its turn lock, which a
// prompt holds until its last turn has ended. The wire lets one prompt of a session run at a time.
//
// Other front ends take part in a session by its live.Conversation, also those of other processes. What they enter is
// queued, and given to the agent that works or sent under the turn lock once no prompt runs; a prompt of the client
// waits for its turns. What the client cancels are the turns, of whichever message.
//
// # Wire
//
// A wire stands between the client and the connection of the SDK, which trusts its client. It passes on what package
// jsonrpc lets through, and no message that is longer than the SDK reads. It handles cancellation itself: the SDK may
// handle session/cancel before the prompt that precedes it, and a second prompt of a session cancels the first. Of a
// session it passes on one prompt at a time, and refuses the others. When the client closes its end, or the program is
// to end, the running prompts are canceled. Everything that was read is answered, unless the client does not read.
//
// # Prompts
//
// The content blocks of a prompt become a message. Texts are joined as they are, so that "@ada" at the beginning
// addresses Ada, and a marker works. A linked file is a Markdown link at its place, after white space; the text of an
// embedded one follows at the end, after the link again, in a fenced code block. What precedes the first text is placed
// after the last one.
//
// Of what a resource brings, its name, its URI and its text, nothing is read as a marker or ends the code block: names
// are code spans, URIs are escaped, and a code block that the texts leave open is closed first. If removing a marker
// from the texts would open one, the embedded text is indented, which nothing can end.
//
// # Options
//
// A client can choose the team, the model of each agent that has one, how many turns agents may have after a message,
// and what agents may do. A choice counts from the next prompt on. The team is fixed once the session has a message.
//
// # Editor
//
// The agents of a team get the files and terminals that the client's capabilities include. Each session has its own
// editorServices, since the editor decides by session which files and directories are meant.
package acp
