package tty

import "errors"

// KeyEscape stands for the key Escape where keys are characters.
const KeyEscape = 0x1b

// ErrInterrupted reports that Ctrl+C, Ctrl+D or a signal ended the input.
var ErrInterrupted = errors.New("interrupted")

// Line is a line of input: a message or a command.
type Line struct {
	Text    string
	From    string // the name of the human who sends it; "": the human whose turn it is
	Message bool   // never a command, whatever it starts with

	ID     string // chosen by the device, to take the line back; "": it cannot be
	Device string // on which it was entered; "": the terminal of this process
	Role   string // what the device may do, as package live defines it
}
