// Package diff compares two sessions: what they have in common, and what each has after it.
//
// A terminal shows the two side by side, or the one below the other if it is narrow. A pipe gets lines that begin with
// a mark.
package diff
