// Package chat implements the chat command: a line-based conversation with a team of agents.
//
// A conversation is a session of the team, either new or resumed from a journal. Every event
// is appended to the journal while the chat runs, unless --no-save is set. Input lines come
// from a terminal, a pipe or flags: a line that starts with a slash is a command, any other
// line is a message. Package coordinator runs the turns of the agents, and package console
// shows them.
package chat
