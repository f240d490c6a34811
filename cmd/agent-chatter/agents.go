package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/agent-chatter/agent-chatter/coordinator"
)

type agentsCommand struct {
	List agentsList `cmd:"" default:"withargs" help:"List the agents that are registered for all teams."`
}

type agentsList struct {
	Output string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (agentsList) Help() string {
	return `Examples:
  agent-chatter agents list`
}

// agentJSON is a registered agent in JSON output.
type agentJSON struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// Run implements the command.
func (cmd *agentsList) Run(a *app) error {
	agents, err := coordinator.RegisteredAgents(a.home)
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(a.stdout, 0, 8, 2, ' ', 0)
	for _, agent := range agents {
		if cmd.Output == "json" {
			err = writeJSON(a.stdout, agentJSON{agent.Name, agent.Command, append([]string{}, agent.Args...)})
		} else {
			_, err = fmt.Fprintf(w, "%s\t%s\n", safeLine(agent.Name), safeLine(strings.Join(append([]string{agent.Command}, agent.Args...), " ")))
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}
