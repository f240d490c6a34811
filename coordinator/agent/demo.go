package agent

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// Demo is the engine that answers offline: no program, no network, no account. Its reply depends
// on the member and the message alone.
//
// A member named planner makes a small plan, one named critic reviews, any other acknowledges.
// Each quotes the beginning of Turn.Said, and hands over to Member.Next with a marker at the end.
// Turn.Prompt is not used.
type Demo struct {
	// Pace is the time between two words; zero yields the reply at once.
	Pace time.Duration
}

// DemoEngine is the name of the engine Demo.
const DemoEngine = "demo"

var _ = Register(Info{
	Name: DemoEngine, AgentTypes: []string{DemoEngine}, New: func() Engine { return Demo{} },
})

// Run yields the reply. Its only error is that ctx is done.
func (d Demo) Run(ctx context.Context, turn Turn) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if !yieldUnsupportedServers(turn.MCPServers, yield) {
			return
		}
		pieces := []string{demoReply(turn)}
		if d.Pace > 0 {
			pieces = strings.SplitAfter(pieces[0], " ")
		}
		for i, piece := range pieces {
			if i > 0 {
				pause(ctx, d.Pace)
			}
			if ctx.Err() != nil {
				break
			}
			if !yield(Text{piece}, nil) {
				return
			}
		}
		if ctx.Err() != nil {
			yield(nil, process.Stopped(ctx))
		}
	}
}

// pause blocks for the time, or until ctx is done.
func pause(ctx context.Context, pace time.Duration) {
	select {
	case <-time.After(pace):
	case <-ctx.Done():
	}
}

// demoReply returns the reply, including the marker.
func demoReply(turn Turn) string {
	speaker := cmp.Or(excerpt(turn.Said.Speaker), "someone")
	words := demoWords(turn.Member.Name, speaker, excerpt(turn.Said.Text))
	if next := excerpt(turn.Member.Next); next != "" {
		words += "\n\n[NEXT: " + next + "]"
	}
	return words
}

// demoWords returns the reply of the member of that name to the quoted message.
func demoWords(name, speaker, quoted string) string {
	planner, critic := strings.EqualFold(name, "planner"), strings.EqualFold(name, "critic")
	switch {
	case planner && quoted == "":
		return "There is nothing to plan yet. Tell me what you would like to do, and I will suggest the first step."
	case planner:
		return fmt.Sprintf("First the smallest part that works, then a look at it together, then the rest. "+
			"That is my plan for what %s said: “%s”.", speaker, quoted)
	case critic && quoted == "":
		return "There is nothing to weigh yet. Show me a plan, and I will look for what could go wrong."
	case critic:
		return fmt.Sprintf("I have weighed what %s said: “%s”. Small steps are sound, "+
			"and they are cheap to take back. "+
			"I would only write down how we will know that we are finished.", speaker, quoted)
	case quoted == "":
		return "I am listening. Tell me what you would like to do."
	}
	return fmt.Sprintf("Thank you, I have read what %s said: “%s”. I have nothing to add for now.", speaker, quoted)
}
