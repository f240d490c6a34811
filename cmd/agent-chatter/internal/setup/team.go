package setup

import (
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
)

// Team is the command team.
type Team struct {
	Init     teamInit           `cmd:"" help:"Create a team configuration."`
	List     TeamList           `cmd:"" aliases:"ls" default:"withargs" help:"List the team configurations."`
	Show     teamShow           `cmd:"" help:"Show the members and settings of a team."`
	Edit     teamEdit           `cmd:"" help:"Edit a team configuration, and validate it."`
	Validate teamValidate       `cmd:"" help:"Validate a team configuration."`
	Trust    teams.TrustCommand `cmd:"" help:"Let a team run without confirmation."`
}

// Help shows examples first.
func (Team) Help() string {
	return `Examples:
  agent-chatter team list
  agent-chatter team init review --agents claude,codex
  agent-chatter team validate team.json`
}
