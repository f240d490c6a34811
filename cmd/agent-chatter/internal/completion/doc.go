// Package completion completes command lines in a shell. The command completion prints
// a function for the shell; that function runs the hidden command __complete, which
// prints what the word at the cursor can become. So the grammar, the sessions and the
// teams are known in one place.
package completion
