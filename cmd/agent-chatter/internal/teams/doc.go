// Package teams finds and loads teams for the commands that run them.
//
// A team configuration runs commands, so only one that the user has chosen is loaded without a
// question: from the user's home, by its path on the command line, or with an entry in trust.json,
// which has the path and a hash of what the team ran when the user chose it. [Loader] shows what any
// other one would run, and asks. Without a terminal it refuses, and names the command that confirms.
package teams
