package usage

import "github.com/alecthomas/kong"

// A Grammar returns the root of all commands. A command that is run gets it: its own parser has only the commands that
// the arguments name.
type Grammar func() *kong.Node
