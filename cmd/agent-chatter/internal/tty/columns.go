package tty

import (
	"io"

	"golang.org/x/term"
)

// LeastShown is the minimum width in columns of a text that is cut, however narrow the
// terminal is.
const LeastShown = 12

// IsTerminal reports whether w is a terminal. It may have no known size.
func IsTerminal(w io.Writer) bool {
	out, ok := w.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(out.Fd()))
}

// Columns returns the width of the terminal that w is, or 0 if it is none: text for a
// pipe or a file is never cut.
func Columns(w io.Writer) int {
	out, ok := w.(interface{ Fd() uintptr })
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(int(out.Fd()))
	if err != nil {
		return 0
	}
	return width
}
