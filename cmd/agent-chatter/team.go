package main

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator"
)

type teamCommand struct {
	Validate teamValidate `cmd:"" help:"Check a configuration and point at each wrong field."`
}

type teamValidate struct {
	File string `arg:"" help:"The configuration: a file, or its name."`
}

// Help shows examples first.
func (teamValidate) Help() string {
	return `Examples:
  agent-chatter team validate team.json`
}

// Run implements the command.
func (cmd *teamValidate) Run(a *app) error {
	path, err := coordinator.FindTeam(cmd.File, a.cwd, a.home)
	if err != nil {
		return err
	}
	team, err := coordinator.LoadTeam(path, a.home)
	if err != nil {
		return err
	}
	members := make([]string, len(team.Members))
	for i, m := range team.Members {
		members[i] = fmt.Sprintf("%s (%s)", m.Name, m.Type)
	}
	_, err = fmt.Fprintf(a.stdout, "%s is valid: team %s with %s\n", safeLine(path), safeLine(team.Name), safeLine(strings.Join(members, ", ")))
	return err
}
