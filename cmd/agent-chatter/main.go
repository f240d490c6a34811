// Agent-chatter runs conversations between people and AI agents in a terminal. It
// saves each session in an append-only journal.
package main

import "github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"

func main() { cli.Main() }
