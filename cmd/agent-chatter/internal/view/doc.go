// Package view shows conversations as text.
//
// A Replay reads a session from its journal, and a Span selects a part of it. A Screen
// listens to a coordinator and shows a conversation while it takes place. All text is
// safe for a terminal: control characters are replaced.
//
// A Transcript turns events and streamed text into blocks, and Render shows a block. What
// is printed while a conversation takes place equals what is rendered from its journal:
// a block is returned once, when it can no longer change.
package view
