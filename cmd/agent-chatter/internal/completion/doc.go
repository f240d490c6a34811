// Package completion completes command lines in a shell. The command completion prints
// a function for the shell; that function runs the hidden command __complete, which
// prints the possible completions of the word at the cursor. The shell function therefore
// needs no list of commands, sessions or teams.
package completion
