// Package sessions implements the commands that list, read and change sessions.
//
// A session is one conversation, kept as a journal. Each exported struct is a command:
// its fields are the flags and arguments that kong parses, and Run executes it. Results
// go to the standard output, notices to the standard error. Commands that read many
// journals stop at SIGINT, SIGTERM or SIGHUP with exit code 130.
//
//	List                the sessions, one per line
//	Show                the details of a session
//	Search              the messages that match a text
//	Rename, Pin, Unpin  append one event to a session
//	Delete              move a session to the trash
//	Fork, Merge         write a new session from one or two others
//	Diff                where two sessions diverge
//	Replay              the conversation, or a rerun of it with another team
//	Tail                the last events, and the following ones as they are appended
package sessions
