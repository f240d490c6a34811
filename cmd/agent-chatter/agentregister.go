package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

type agentsRegister struct {
	DisplayName string   `help:"What people read." placeholder:"NAME"`
	Replace     bool     `help:"Replace the agent that has the name."`
	Name        string   `arg:"" help:"Its name, which is the agentType of members."`
	Command     []string `arg:"" optional:"" passthrough:"" help:"The program and its arguments; known agents need none."`
}

// Help shows examples first.
func (agentsRegister) Help() string {
	return `Examples:
  agent-chatter agents register claude
  agent-chatter agents register upper tr a-z A-Z
  agent-chatter agents register --display-name "My agent" mine ./agent.sh --quiet`
}

// Run implements the command.
func (cmd *agentsRegister) Run(a *app) error {
	r, err := cmd.agent(a)
	if err != nil {
		return err
	}
	old, err := team.RegisteredAgent(a.home, r.Name)
	switch {
	case err == nil && !cmd.Replace:
		return &exitError{exitFailed, alreadyRegisteredText(old)}
	case err != nil && !errors.Is(err, team.ErrAgentNotFound):
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	if _, err := process.Find(process.Program{Dir: a.cwd, Command: r.Command}); err != nil {
		h, _ := hint.Of(err)
		a.notice(remedyText(err.Error(), h))
	} else if _, known := agent.Recognize(r.Command, r.Args); known {
		r.Version, _ = versionOf(ctx, r.Command)
		if ctx.Err() != nil {
			return &exitError{code: exitInterrupted}
		}
	}
	return a.register(ctx, r)
}

// register puts an agent into the registry and says so.
func (a *app) register(ctx context.Context, r team.Agent) error {
	r.InstalledAt = now()
	if err := team.Register(ctx, a.home, r); err != nil {
		return err
	}
	a.notice(registeredText(r))
	return nil
}

// agent is what is to be registered.
func (cmd *agentsRegister) agent(a *app) (team.Agent, error) {
	name := strings.TrimSpace(cmd.Name)
	if name == "" || name != safeLine(name) {
		return team.Agent{}, usageError("An agent needs a name that can be typed.")
	}
	known, ok := knownAgent(name)
	command := cmd.Command
	switch {
	case len(command) == 0 && !ok:
		return team.Agent{}, usageError("%s", noCommandText(name))
	case len(command) == 0:
		command = append([]string{known.Program}, known.Args...)
	}
	r := team.Agent{Name: name, DisplayName: cmp.Or(cmd.DisplayName, known.DisplayName, name), Command: command[0], Args: command[1:]}
	if r.Command == "" {
		return r, usageError("%s", noCommandText(name))
	}
	if strings.ContainsRune(r.Command, filepath.Separator) && !filepath.IsAbs(r.Command) {
		r.Command = filepath.Join(a.cwd, r.Command)
	}
	return r, nil
}

// knownAgents are those for which there is an engine.
func knownAgents() []agent.Known {
	all := engines(agent.Demo{})
	return slices.DeleteFunc(agent.KnownAgents(), func(k agent.Known) bool { return all[k.Engine] == nil })
}

func knownAgent(name string) (agent.Known, bool) {
	for _, k := range knownAgents() {
		if k.Name == name {
			return k, true
		}
	}
	return agent.Known{}, false
}

type agentsDelete struct {
	Name string `arg:"" help:"The agent."`
}

// Help shows examples first.
func (agentsDelete) Help() string {
	return `Examples:
  agent-chatter agents delete upper`
}

// Run implements the command.
func (cmd *agentsDelete) Run(a *app) error {
	// Asked first, so that a registry that is not there does not come into being.
	r, err := team.RegisteredAgent(a.home, cmd.Name)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	if err := team.Unregister(ctx, a.home, cmd.Name); err != nil {
		return err
	}
	a.notice(unregisteredText(r))
	return nil
}
