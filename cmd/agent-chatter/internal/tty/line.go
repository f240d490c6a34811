package tty

// Line is a line of input: a message or a command.
type Line struct {
	Text    string
	From    string // the name of the human who sends it; "": the human whose turn it is
	Message bool   // never a command, whatever it starts with
}
