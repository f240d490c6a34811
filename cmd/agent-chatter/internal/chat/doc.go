// Package chat implements the chat command: a line-based conversation with a team of agents.
//
// A conversation is a session of the team, either new or resumed from a journal. Every event
// is appended to the journal while the chat runs; with --no-auto-save it is kept in memory
// until it is saved, with --no-save no journal is written. Input lines come from a terminal,
// a pipe or flags. A line that starts with one slash is a command, any other line is a
// message, as is every JSON object. Package coordinator runs the turns of the agents, and package console
// shows them.
package chat
