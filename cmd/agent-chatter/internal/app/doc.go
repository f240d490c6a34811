// Package app provides what all commands of agent-chatter share: the standard streams, the
// home directory, the configuration, one catalog of the sessions, and the log.
//
// An [App] belongs to one run of the program. It has where things are, and a [Printer], which
// is how the program speaks: results go to its Stdout; notices, progress and the log go to its
// Stderr.
//
// # Errors
//
// Packages return errors that carry data. [Explain] converts an error to a [Message],
// [CodeOf] to an exit code. A Message holds the suggested commands as argument vectors.
// [Printer.Render] formats them as the user has to type them: quoted for a shell, with
// --home, or as a slash command in a chat.
//
// All printed text is safe for a terminal: untrusted names and contents pass through
// tty.Safe or tty.SafeLine where a text is built.
package app
