// Package compare shows the turns of two sessions from where they diverge.
//
// A [Pane] is a part of a screen of bubbletea. What the sessions have in common is one line; below it each has a list
// of package turns, side by side or one above the other.
//
// # Concurrency
//
// The methods of a Pane are called by one goroutine. They read no files: the commands that they return do, with a
// context that ends when other sessions are shown.
package compare
