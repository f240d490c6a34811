package figures

import (
	"testing"
	"time"
)

// start measures what any command costs before it does its work.
func (f *figures) start(t *testing.T) {
	results := f.race(t,
		contestant{name: "agent-chatter --version", args: []string{f.program, "--version"}, prints: ".", most: 1.15},
		contestant{name: "a Go program that does nothing", args: []string{f.peer}},
	)
	printCosts(results)
	f.takesAtMost(results[0], 15*time.Millisecond)
}
