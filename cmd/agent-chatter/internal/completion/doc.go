// Package completion completes command lines in a shell. The completion command prints a
// script for the shell, whose function runs the hidden command __complete, which prints
// the possible completions of the word at the cursor. The function therefore needs no
// list of commands, sessions or teams.
package completion
