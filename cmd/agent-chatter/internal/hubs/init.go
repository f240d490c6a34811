package hubs

import (
	"fmt"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
)

// Init creates the hub on its servers.
type initCommand struct {
	Replicas int `help:"Servers that store each message: 1, 3 or 5 (default for a new hub: 1)." placeholder:"N"`
}

// Help shows examples.
func (initCommand) Help() string {
	return `Examples:
  agent-chatter hub init
  agent-chatter hub init --replicas 3`
}

// Run implements the command.
func (cmd *initCommand) Run(a *app.App) error {
	if !slices.Contains([]int{0, 1, 3, 5}, cmd.Replicas) { // an even number bears no more failures
		return app.UsageError("--replicas takes 1, 3 or 5.")
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	o, err := a.Remote.Options()
	if err != nil {
		return err
	}
	e, created, err := jetstream.Init(ctx, o, cmd.Replicas)
	if err != nil {
		return err
	}
	defer e.Close()
	a.Notice(initText(e.Name(), created, e.Replicas()))
	return nil
}

// initText is for a hub that was created, or exists.
func initText(name string, created bool, replicas int) string {
	verb := "exists"
	if created {
		verb = "was created"
	}
	return fmt.Sprintf("Hub %s %s. Each message is stored on %s.\n"+
		"A power cut loses nothing that was acknowledged if its servers have \"sync_interval: always\": "+
		"this cannot be checked from here.", tty.SafeLine(name), verb, app.Count(replicas, "server"))
}
