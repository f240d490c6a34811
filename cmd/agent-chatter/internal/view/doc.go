// Package view shows conversations as text.
//
// A Replay reads a session from its journal, and a Span selects a part of it. A Screen
// listens to a coordinator and shows a conversation while it takes place. All text is
// safe for a terminal: control characters are replaced.
package view
