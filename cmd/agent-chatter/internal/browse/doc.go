// Package browse is the command that browses sessions in a full-screen terminal program.
//
// A model has the list of sessions, the search in them and the preview of the selected
// one. It changes only in its Update method, which reads nothing but the index rows of the
// sessions on the screen: whatever takes time is a command, whose result arrives as a message.
// A message of an outdated request is ignored, and the request's context is cancelled.
//
// The sessions that are only on a hub appear when the hub has answered; the list does not wait for it. One that stays
// selected is fetched in the background, and so is one whose key needs it.
//
// An actions value turns keys into questions on a row of the screen and into changes of package changes, and keeps what
// can be undone. A listFilter selects and orders the sessions that are listed, by keys.
//
// # Panes
//
// A pane is a part of the screen. A comparePane shows the turns of two sessions from where they diverge: what they have
// in common is one line; below it each has a list of package turns, side by side or one above the other. A trashPane
// lists the sessions in the trash of all teams, those that were deleted last first. How a session began is read for the
// rows that are shown, and for no others: there may be many.
//
// # Concurrency
//
// The methods of a pane are called by one goroutine. They read no files: the commands that they return do, with a
// context that ends when they are no longer needed.
package browse
