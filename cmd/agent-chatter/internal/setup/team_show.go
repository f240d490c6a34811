package setup

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
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
	Budget               []string      `json:"budget,omitempty"`     // the limits, such as session.cost=5
	MaxAgentResponseTime int64         `json:"maxAgentResponseTime"` // milliseconds
	InstructionFile      string        `json:"instructionFile,omitempty"`
	Panel                []string      `json:"panel,omitempty"` // those who can have their turns at the same time
	Members              []shownMember `json:"members"`
}

// shownMember is a member with its defaults. Of its environment it has only the names.
type shownMember struct {
	Name              string         `json:"name"`
	DisplayName       string         `json:"displayName"`
	Type              string         `json:"type"`
	Role              string         `json:"role"`
	AgentType         string         `json:"agentType,omitempty"`
	Engine            string         `json:"engine,omitempty"`
	Command           string         `json:"command,omitempty"`
	Args              []string       `json:"args,omitempty"`
	Model             string         `json:"model,omitempty"`
	Thinking          *bool          `json:"thinking,omitempty"`
	Recall            string         `json:"recall,omitempty"` // "team" or "all"
	Permissions       string         `json:"permissions,omitempty"`
	Endpoint          string         `json:"endpoint,omitempty"`
	APIKeyEnv         string         `json:"apiKeyEnv,omitempty"`
	Headers           []string       `json:"headers,omitempty"` // their names
	BaseDir           string         `json:"baseDir,omitempty"`
	Worktree          *team.Worktree `json:"worktree,omitempty"`
	InstructionFile   string         `json:"instructionFile,omitempty"`
	SystemInstruction string         `json:"systemInstruction,omitempty"`
	Env               []string       `json:"env,omitempty"`
	Unset             []string       `json:"unset,omitempty"` // unset variables that it refers to

	id string
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
	if tty.IsTerminal(a.Stdout) {
		return printTeam(a.Stdout, shown, view.NewTranscript(team), view.OutputStyle(a))
	}
	_, err = fmt.Fprint(a.Stdout, shownTeamText(shown))
	return err
}

func newShownTeam(a *app.App, team *team.Team) shownTeam {
	shown := shownTeam{
		Name: team.Name, DisplayName: team.DisplayName, Description: team.Description, MaxRounds: team.MaxRounds,
		MaxAgentResponseTime: team.MaxAgentResponseTime.Milliseconds(), InstructionFile: team.InstructionFile,
	}
	for _, b := range team.Budget.Bounds() {
		shown.Budget = append(shown.Budget, b.String())
	}
	if team.Source != nil {
		shown.Path = team.Source.Path
	}
	if together := coordinator.PanelMembers(team); len(together) > 1 {
		for _, m := range together {
			shown.Panel = append(shown.Panel, m.Name)
		}
	}
	for _, m := range team.Members {
		shown.Members = append(shown.Members, newShownMember(a, m))
	}
	return shown
}

func newShownMember(a *app.App, m team.Member) shownMember {
	secrets := a.Redactor(append(m.Secrets(), team.InheritedSecrets()...))
	shown := shownMember{
		id: m.ID, Name: m.Name, DisplayName: m.DisplayName, Type: m.Type, Role: m.Role, AgentType: m.AgentType,
		Command: m.Command, Model: m.Model, Thinking: m.Thinking, Recall: m.Recall, Permissions: m.Permissions,
		Endpoint: teams.EndpointText(secrets, m.Endpoint), APIKeyEnv: m.APIKeyEnv, Worktree: m.Worktree,
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

// fields returns the names and values of the team.
func (t shownTeam) fields() [][2]string {
	return set([][2]string{
		{"team", t.Name}, {"description", t.Description}, {"file", t.Path}, {"instructions", t.InstructionFile},
		{"max rounds", maxRoundsText(t.MaxRounds)}, {"budget", strings.Join(t.Budget, ", ")},
		{"time limit of a turn", (time.Duration(t.MaxAgentResponseTime) * time.Millisecond).String()},
		{"at the same time", panelText(t.Panel)},
	})
}

// fields returns the names and values of the member.
func (m shownMember) fields() [][2]string {
	return set([][2]string{
		{"role", m.Role}, {"engine", m.Engine}, {"command", strings.Join(append([]string{m.Command}, m.Args...), " ")},
		{"model", m.Model}, {"thinking", thinkingText(m.Thinking)}, {"permissions", m.Permissions},
		{"may read sessions of", teams.RecallText(m.Recall)},
		{"endpoint", m.Endpoint}, {"key variable", m.APIKeyEnv}, {"headers", strings.Join(m.Headers, ", ")},
		{"base directory", m.BaseDir}, {"worktree", worktreeText(m.Worktree)}, {"instructions", m.InstructionFile},
		{"environment", strings.Join(m.Env, ", ")}, {"unset", strings.Join(m.Unset, ", ")},
	})
}

// set returns the fields that have a value.
func set(fields [][2]string) [][2]string {
	return slices.DeleteFunc(fields, func(field [2]string) bool { return field[1] == "" })
}

// shownTeamText is the text of `team show` for a pipe.
func shownTeamText(t shownTeam) string {
	var b strings.Builder
	for _, field := range t.fields() {
		fmt.Fprintf(&b, "%s: %s\n", field[0], tty.SafeLine(field[1]))
	}
	for _, m := range t.Members {
		fmt.Fprintf(&b, "\n%s (%s), %s\n", tty.SafeLine(m.Name), tty.SafeLine(m.DisplayName), m.Type)
		for _, field := range m.fields() {
			fmt.Fprintf(&b, "  %s: %s\n", field[0], tty.SafeLine(field[1]))
		}
	}
	return b.String()
}

// printTeam prints a team on a terminal, the names of its members in their colours.
func printTeam(w io.Writer, t shownTeam, members *view.Transcript, s view.Style) error {
	write := func(fields [][2]string) error {
		for i, field := range fields {
			fields[i][1] = app.ShortPath(field[1])
		}
		return ansi.WriteFields(w, fields, s.Width, s.Profile)
	}
	if err := write(t.fields()); err != nil {
		return err
	}
	for _, m := range t.Members {
		name := ansi.Line{
			{Text: m.DisplayName, Style: ansi.Style{Bold: true, Color: members.Color(m.id)}},
			{Text: "  " + m.Name + ", " + m.Type, Style: ansi.Style{Dim: true}},
		}
		_, err := fmt.Fprintf(w, "\n%s\n", s.Profile.Encode(ansi.Cut(name, s.Width-1)))
		if err == nil {
			err = write(m.fields())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// worktreeText describes how a member gets a directory of its own; nil: it gets none.
func worktreeText(w *team.Worktree) string {
	if w == nil {
		return ""
	}
	parts := []string{"a copy of the base directory"}
	if len(w.Copy) > 0 {
		parts = append(parts, "with "+strings.Join(w.Copy, ", "))
	}
	if len(w.Setup) > 0 {
		parts = append(parts, "set up by "+hint.Join(w.Setup))
	}
	if w.Ports > 0 {
		parts = append(parts, fmt.Sprintf("ports: %d", w.Ports))
	}
	return strings.Join(parts, ", ")
}

// panelText is a marker to members who can have their turns at the same time, and how many may.
func panelText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	text := "[NEXT: " + strings.Join(names[:min(len(names), coordinator.MaxPanel)], " | ") + "]"
	if len(names) > coordinator.MaxPanel {
		text += fmt.Sprintf(", or up to %d others of %s", coordinator.MaxPanel, strings.Join(names, ", "))
	}
	return tty.SafeLine(text)
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
