package coordinator_test

import (
	"context"
	"fmt"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
)

// transcript prints the messages of a conversation.
type transcript struct{}

func (transcript) Event(e coordinator.Event) {
	if m, ok := e.Payload.(projection.MessageAppended); ok {
		fmt.Printf("%s: %.40q\n", m.Message.Speaker.DisplayName, m.Message.Content)
	}
}

func (transcript) Text(turnID string, m team.Member, text string) {}

func (transcript) Ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	return coordinator.Answer{Decision: coordinator.Refused}
}

func (transcript) Notice(n coordinator.Notice) {}

func (transcript) Status(s coordinator.Status) {
	if s.Phase == coordinator.Paused {
		fmt.Println("A human is next.")
	}
}

// The built-in team has agents that only quote what they were told, without a network.
func Example() {
	ctx := context.Background()
	sessions := &store.Memory{}
	c := coordinator.New(coordinator.Options{
		Store:    sessions,
		Engines:  map[string]agent.Engine{"demo": agent.Demo{}},
		Listener: transcript{},
		App:      projection.App{Name: "example", Version: "1"},
	})
	demo := team.Demo()
	if err := c.SetTeam(ctx, demo, coordinator.SetTeamOptions{}); err != nil {
		fmt.Println(err)
		return
	}
	anna, _ := demo.FirstHuman()
	if err := c.Say(ctx, anna.Name, "How do we build a shelf?"); err != nil {
		fmt.Println(err)
		return
	}
	session := c.Session().ID
	if err := c.Stop("the example ends"); err != nil {
		fmt.Println(err)
		return
	}

	// Another Coordinator continues the session.
	again := coordinator.New(coordinator.Options{Store: sessions, App: projection.App{Name: "example", Version: "1"}})
	if err := again.SetTeam(ctx, demo, coordinator.SetTeamOptions{ResumeSessionID: session}); err != nil {
		fmt.Println(err)
		return
	}
	defer again.Stop("the example ends")
	fmt.Println(again.Session().Title, "has", again.Session().Stats.Messages, "messages")
	// Output:
	// You: "How do we build a shelf?"
	// Planner: "First the smallest part that works, then"
	// Critic: "I have weighed what Planner said: “First"
	// A human is next.
	// How do we build a shelf? has 3 messages
}
