package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

type register struct {
	DisplayName string   `help:"Name shown to people." placeholder:"NAME"`
	Replace     bool     `help:"Replace an agent of the same name."`
	Name        string   `arg:"" help:"Name of the agent; teams use it as agentType."`
	Command     []string `arg:"" optional:"" passthrough:"" help:"Program and arguments; optional for known agents."`
}

// Help shows examples first.
func (register) Help() string {
	return `Examples:
  agent-chatter agents register claude
  agent-chatter agents register shout tr a-z A-Z
  agent-chatter agents register --display-name "My agent" mine ./agent.sh --quiet`
}

// Run implements the command.
func (cmd *register) Run(a *app.App) error {
	r, err := cmd.agent(a)
	if err != nil {
		return err
	}
	old, err := team.RegisteredAgent(a.Home, r.Name)
	switch {
	case err == nil && !cmd.Replace:
		return app.Exit(app.ExitFailed, app.Message{Text: alreadyRegisteredText(old)})
	case err != nil && !errors.Is(err, team.ErrAgentNotFound):
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	if _, err := process.Find(process.Program{Dir: a.Cwd, Command: r.Command}); err != nil {
		return err
	} else if _, known := agent.Recognize(r.Command, r.Args); known {
		r.Version, _ = versionOf(ctx, r.Command)
		if ctx.Err() != nil {
			return &app.ExitError{Code: app.ExitInterrupted}
		}
	}
	return add(ctx, a, r)
}

// agent returns the agent to register.
func (cmd *register) agent(a *app.App) (team.Agent, error) {
	name := strings.TrimSpace(cmd.Name)
	if name == "" || name != tty.SafeLine(name) {
		return team.Agent{}, app.UsageError(
			"An agent needs a name without spaces around it and without control characters.",
		)
	}
	known, ok := agent.KnownAgent(name)
	command := cmd.Command
	switch {
	case len(command) == 0 && !ok:
		return team.Agent{}, app.UsageError("%s", noCommandText(name))
	case len(command) == 0:
		command = append([]string{known.Program}, known.Args...)
	}
	r := team.Agent{
		Name: name, DisplayName: cmp.Or(cmd.DisplayName, known.DisplayName, name),
		Command: command[0], Args: command[1:],
	}
	if r.Command == "" {
		return r, app.UsageError("%s", noCommandText(name))
	}
	if strings.ContainsRune(r.Command, filepath.Separator) && !filepath.IsAbs(r.Command) {
		r.Command = filepath.Join(a.Cwd, r.Command)
	}
	return r, nil
}

// add adds or replaces an agent and prints so.
func add(ctx context.Context, a *app.App, r team.Agent) error {
	r.InstalledAt = time.Now()
	if err := team.Register(ctx, a.Home, r); err != nil {
		return err
	}
	a.Show(registeredText(r))
	return nil
}

type remove struct {
	Name string `arg:"" help:"Name of the agent."`
}

// Help shows examples first.
func (remove) Help() string {
	return `Examples:
  agent-chatter agents delete upper`
}

// Run implements the command.
func (cmd *remove) Run(a *app.App) error {
	// Unregister would create a missing registry.
	r, err := team.RegisteredAgent(a.Home, cmd.Name)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	if err := team.Unregister(ctx, a.Home, cmd.Name); err != nil {
		return err
	}
	a.Notice(unregisteredText(r))
	return nil
}

func registeredText(r team.Agent) app.Message {
	return app.Text("%s is registered.", tty.SafeLine(r.Name)).With(app.To("verify it", "agents", "verify", r.Name))
}

func alreadyRegisteredText(r team.Agent) string {
	return fmt.Sprintf("The agent %s is already registered: %s\nAdd --replace before the name to replace it.",
		tty.SafeLine(r.Name), commandLine(r))
}

// noCommandText is for an agent that is not known by name.
func noCommandText(name string) string {
	var names []string
	for _, k := range agent.KnownAgents() {
		names = append(names, k.Name)
	}
	return fmt.Sprintf("Add the program of %s after its name. Only these need none: %s.",
		tty.SafeLine(name), strings.Join(names, ", "))
}

func unregisteredText(r team.Agent) string {
	return fmt.Sprintf("%s was removed from the registry; nothing was uninstalled. Its command was: %s",
		tty.SafeLine(r.Name), commandLine(r))
}
