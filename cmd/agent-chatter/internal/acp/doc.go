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
// prompt holds until its last turn has ended. Package wire lets one prompt of a session run at a time.
package acp
