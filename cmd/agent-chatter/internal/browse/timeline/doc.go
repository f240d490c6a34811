// Package timeline shows the turns of a session in a pane, and the session as it was at the selected one.
//
// A [Pane] is a part of a screen of bubbletea: a list of package turns, and below it or beside it the task, the queue
// and the conversation up to the end of the selected row, as far as there is room. The conversation is read backwards
// from that event, so that moving through a long session costs what is shown of it.
//
// # Concurrency
//
// The methods of a Pane are called by one goroutine. They read no files: the commands that they return do, with a
// context that ends when another row is selected.
package timeline
