package setup

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

type teamShow struct {
	Team   string `arg:"" help:"File or name of the team."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (teamShow) Help() string {
	return `Examples:
  agent-chatter team show review
  agent-chatter team show team.json --output json`
}

// shownTeam is a team with its defaults.
type shownTeam struct {
	Name                 string        `json:"name"`
	DisplayName          string        `json:"displayName"`
	Description          string        `json:"description"`
	Path                 string        `json:"path,omitempty"`
	MaxRounds            int           `json:"maxRounds"`
	MaxAgentResponseTime int64         `json:"maxAgentResponseTime"` // milliseconds
	InstructionFile      string        `json:"instructionFile,omitempty"`
	Members              []shownMember `json:"members"`
}

// shownMember is a member with its defaults. Of its environment it has only the names.
type shownMember struct {
	Name              string   `json:"name"`
	DisplayName       string   `json:"displayName"`
	Type              string   `json:"type"`
	Role              string   `json:"role"`
	AgentType         string   `json:"agentType,omitempty"`
	Engine            string   `json:"engine,omitempty"`
	Command           string   `json:"command,omitempty"`
	Args              []string `json:"args,omitempty"`
	Model             string   `json:"model,omitempty"`
	Thinking          *bool    `json:"thinking,omitempty"`
	Permissions       string   `json:"permissions,omitempty"`
	Endpoint          string   `json:"endpoint,omitempty"`
	APIKeyEnv         string   `json:"apiKeyEnv,omitempty"`
	Headers           []string `json:"headers,omitempty"` // their names
	BaseDir           string   `json:"baseDir,omitempty"`
	InstructionFile   string   `json:"instructionFile,omitempty"`
	SystemInstruction string   `json:"systemInstruction,omitempty"`
	Env               []string `json:"env,omitempty"`
	Unset             []string `json:"unset,omitempty"` // unset variables that it refers to
}

// Run implements the command.
func (cmd *teamShow) Run(a *app.App) error {
	team, err := teams.Read(a, cmd.Team)
	if err != nil {
		return err
	}
	shown := newShownTeam(a, team)
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, shown)
	}
	_, err = fmt.Fprint(a.Stdout, shownTeamText(shown))
	return err
}

func newShownTeam(a *app.App, team *team.Team) shownTeam {
	shown := shownTeam{
		Name: team.Name, DisplayName: team.DisplayName, Description: team.Description, MaxRounds: team.MaxRounds,
		MaxAgentResponseTime: team.MaxAgentResponseTime.Milliseconds(), InstructionFile: team.InstructionFile,
	}
	if team.Source != nil {
		shown.Path = team.Source.Path
	}
	for _, m := range team.Members {
		shown.Members = append(shown.Members, newShownMember(a, m))
	}
	return shown
}

func newShownMember(a *app.App, m team.Member) shownMember {
	secrets := a.Redactor(append(m.Secrets(), team.InheritedSecrets()...))
	shown := shownMember{
		Name: m.Name, DisplayName: m.DisplayName, Type: m.Type, Role: m.Role, AgentType: m.AgentType,
		Command: m.Command, Model: m.Model, Thinking: m.Thinking, Permissions: m.Permissions,
		Endpoint: teams.EndpointText(secrets, m.Endpoint), APIKeyEnv: m.APIKeyEnv,
		BaseDir: m.BaseDir, InstructionFile: m.InstructionFile, SystemInstruction: secrets.Text(m.SystemInstruction),
		Headers: slices.Sorted(maps.Keys(m.Headers)),
		Env:     slices.Sorted(maps.Keys(m.Env)),
	}
	for _, arg := range m.Args {
		shown.Args = append(shown.Args, secrets.Text(arg))
	}
	if m.Type == team.AI {
		shown.Engine, shown.Unset = m.EngineName(), m.Unset()
	}
	return shown
}

// shownTeamText is the text of `team show`.
func shownTeamText(t shownTeam) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", name, tty.SafeLine(value))
		}
	}
	line("team", t.Name)
	line("description", t.Description)
	line("file", t.Path)
	line("instructions", t.InstructionFile)
	line("max rounds", maxRoundsText(t.MaxRounds))
	line("time limit of a turn", (time.Duration(t.MaxAgentResponseTime) * time.Millisecond).String())
	for _, m := range t.Members {
		fmt.Fprintf(&b, "\n%s (%s), %s\n", tty.SafeLine(m.Name), tty.SafeLine(m.DisplayName), m.Type)
		line("  role", m.Role)
		line("  engine", m.Engine)
		line("  command", strings.Join(append([]string{m.Command}, m.Args...), " "))
		line("  model", m.Model)
		line("  thinking", thinkingText(m.Thinking))
		line("  permissions", m.Permissions)
		line("  endpoint", m.Endpoint)
		line("  key variable", m.APIKeyEnv)
		line("  headers", strings.Join(m.Headers, ", "))
		line("  base directory", m.BaseDir)
		line("  instructions", m.InstructionFile)
		line("  environment", strings.Join(m.Env, ", "))
		line("  unset", strings.Join(m.Unset, ", "))
	}
	return b.String()
}

func thinkingText(on *bool) string {
	switch {
	case on == nil:
		return ""
	case *on:
		return "on"
	}
	return "off"
}

func maxRoundsText(n int) string {
	if n == 0 {
		return "no limit"
	}
	return fmt.Sprint(n)
}
