package main

import (
	"testing"
	"time"
)

// start measures what any command costs before it does something.
func (f *figures) start(t *testing.T) {
	results := f.race(t,
		contestant{name: "agent-chatter --version", args: []string{f.program, "--version"}, says: version},
		contestant{name: "a Go program that does nothing", args: []string{f.beside}},
	)
	printCosts(results)
	f.takes(results[0], 15*time.Millisecond)
}
