// Package app is what every command of agent-chatter gets: the streams, the home, the
// configuration, one catalog of the sessions, and the log.
//
// An [App] belongs to one run of the program. Results go to its Stdout; notices,
// progress and the log go to its Stderr.
//
// # Errors
//
// Packages return errors that carry data. App turns one into text once, with
// [Explain], and into an exit code with [CodeOf]. The text is a [Message]: a command
// that helps is an argument vector in it. Only [App.Render] knows how the user has to
// type that command: quoted for a shell, with --home, or as a slash command in a chat.
//
// All text that is printed is safe for a terminal: names and contents of others pass
// through tty.Safe or tty.SafeLine where a text is built.
package app
