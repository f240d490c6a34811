// Package hint attaches a remedy to an error as data.
//
// A [Hint] is one thing that a user can do about a failure: run a program, run a command of
// agent-chatter, or type a slash command in a chat. The package that detects the failure knows
// which; only the program that prints the error knows how the user has to type it: with --home,
// as a slash command, or quoted for a shell. So an error carries the argument vector, and the
// printing program renders it once.
//
//	return hint.Wrap(err, hint.Hint{Kind: hint.Run, Argv: []string{"chmod", "+x", "--", path}})
//
//	if h, ok := hint.Of(err); ok && h.Kind == hint.Run {
//		fmt.Println(hint.Join(h.Argv))
//	}
//
// [Quote] and [Join] are the only shell quoting of the project. [Nearest] corrects a misspelled name.
package hint
