package tty

import (
	"os"

	"github.com/charmbracelet/x/ansi"
)

// screenString is how many bytes GNU screen passes on in one string.
const screenString = 250

// CopySequence returns the sequence (OSC 52) that makes a terminal copy a text to its clipboard. A terminal may ignore
// it. In tmux it takes effect with the option set-clipboard on or with allow-passthrough on.
func CopySequence(text string) string {
	sequence := ansi.SetSystemClipboard(text)
	switch {
	case os.Getenv("TMUX") != "":
		return sequence + ansi.TmuxPassthrough(sequence)
	case os.Getenv("STY") != "": // GNU screen
		return ansi.ScreenPassthrough(sequence, screenString)
	}
	return sequence
}
