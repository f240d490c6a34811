// Package preview shows the conversation of a session in a pane.
//
// A [Pane] is a part of a screen of bubbletea. It shows a session as `replay` prints it, from its end backwards or
// around one message, below a head that says what the session is.
//
// The events are read in chunks of package conversation, which can be laid out without the events before them; a turn
// that is longer than the limits is divided. A part is a chunk and the rows that show it. The pane has the parts around
// the rows that it shows and no others.
//
// # Concurrency
//
// The methods of a Pane are called by one goroutine. They read no files: the commands that they return do, one at a
// time, with a context that ends when another session is shown.
package preview
