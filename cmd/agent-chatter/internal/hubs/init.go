package hubs

import (
	"fmt"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
)

// Init creates the hub on its servers.
type Init struct {
	Replicas int `help:"Servers that store each message, 1, 3 or 5 (default: ${default})." default:"1" placeholder:"N"`
}

// Help shows examples.
func (Init) Help() string {
	return `Examples:
  agent-chatter hub init
  agent-chatter hub init --replicas 3`
}

// Run implements the command.
func (cmd *Init) Run(a *app.App) error {
	if cmd.Replicas < 1 || cmd.Replicas > 5 {
		return app.UsageError("--replicas takes a number from 1 to 5.")
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
	a.Notice(initText(e.Name(), e.Replicas(), created))
	return nil
}

// initText is for a hub that was created, or exists.
func initText(name string, replicas int, created bool) string {
	text := fmt.Sprintf("Hub %s exists", tty.SafeLine(name))
	if created {
		text = fmt.Sprintf("Hub %s was created", tty.SafeLine(name))
	}
	return text + fmt.Sprintf(" on %s.\n"+
		"Its servers need \"sync_interval: always\" to keep what they acknowledge through a power cut: "+
		"this cannot be checked from here.", app.Count(replicas, "server"))
}
