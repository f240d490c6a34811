// Package trash shows the sessions in the trash in a pane.
//
// A [Pane] is a part of a screen of bubbletea: a list of all teams' sessions, those that were deleted last first, and
// below it what is known of the selected one. How a session began is read for the rows that are shown, and for no
// others: there may be many.
//
// # Concurrency
//
// The methods of a Pane are called by one goroutine. They read no files: the commands that they return do, with a
// context that ends when they are no longer needed.
package trash
