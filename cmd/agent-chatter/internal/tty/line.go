package tty

// line is one thing that somebody said or asked for.
type Line struct {
	Text    string
	From    string // the human who says it; "": the one who is next
	Message bool   // it is never a command
}
