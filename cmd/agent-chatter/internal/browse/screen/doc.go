// Package screen is the full-screen browser of sessions.
//
// A model has the list of sessions, the search in them and the preview of the selected
// one. It changes only in its Update method, which reads nothing but the index rows of the
// sessions on the screen: whatever takes time is a command, whose result arrives as a message.
// A message of an outdated request is ignored, and the request's context is cancelled.
//
// The sessions that are only on a hub appear when the hub has answered; the list does not wait for it. One that stays
// selected is fetched in the background, and so is one whose key needs it.
package screen
