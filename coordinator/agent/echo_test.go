package agent

import (
	"context"
	"iter"
)

// Echo is the engine that repeats the message.
type Echo struct{}

var _ = Register(Info{Name: "echo", AgentTypes: []string{"echo"}, New: func() Engine { return Echo{} }})

// Run yields the message.
func (Echo) Run(_ context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) { yield(Text{turn.Said.Text}, nil) }
}
