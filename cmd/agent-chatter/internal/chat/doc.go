// Package chat has the chat command: a conversation with a team of agents, line by line.
//
// A conversation is a session of the team. It is new, or resumed from a journal, and every
// event is saved while the chat runs. Lines come from a terminal, a pipe or flags; a line
// that starts with a slash is a command, any other line is a message. Package coordinator
// runs the turns of the agents, and package view prints them.
package chat
