// Package teams finds and loads teams for the commands that run them.
//
// A team configuration runs commands. It is loaded without confirmation from the user's home, by its
// path on the command line, or with an entry in trust.json, which has the path and a hash of what
// the team ran when the user confirmed it. For any other one, [Loader] shows what it would run and
// asks. Without a terminal it refuses and names the command that confirms.
package teams
