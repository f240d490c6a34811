package setup

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Team is the command team.
type Team struct {
	Init     teamInit           `cmd:"" help:"Create a team configuration."`
	List     TeamList           `cmd:"" aliases:"ls" default:"withargs" help:"List the team configurations."`
	Show     teamShow           `cmd:"" help:"Show the members and settings of a team."`
	Validate teamValidate       `cmd:"" help:"Validate a team configuration."`
	Trust    teams.TrustCommand `cmd:"" help:"Let a team run without a question."`
}

// Help shows examples first.
func (Team) Help() string {
	return `Examples:
  agent-chatter team list
  agent-chatter team init review --agents claude,codex
  agent-chatter team validate team.json`
}

type teamValidate struct {
	File   string `arg:"" help:"File or name of the team."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (teamValidate) Help() string {
	return `Examples:
  agent-chatter team validate team.json`
}

// validated is the result of `team validate` in JSON output.
type validated struct {
	Path     string         `json:"path"`
	Valid    bool           `json:"valid"`
	Team     string         `json:"team,omitempty"`
	Problems []fieldProblem `json:"problems"`
	Warnings []fieldProblem `json:"warnings,omitempty"` // missing fields that have defaults
	Error    string         `json:"error,omitempty"`    // every problem as text
}

// fieldProblem is an invalid field.
type fieldProblem struct {
	Path    string `json:"path"` // JSON pointer
	Message string `json:"message"`
}

// Run implements the command.
func (cmd *teamValidate) Run(a *app.App) error {
	file, err := team.Find(cmd.File, a.Places())
	if err != nil {
		return err
	}
	path := cmp.Or(file.Path, file.Name)
	team, err := teams.Read(a, cmd.File)
	if cmd.Output == "json" {
		return cmd.printJSON(a, path, team, err)
	}
	if err != nil {
		return err
	}
	teams.Warn(a, team)
	members := make([]string, len(team.Members))
	for i, m := range team.Members {
		members[i] = fmt.Sprintf("%s (%s)", m.Name, m.Type)
		warnMember(a, m)
	}
	_, err = fmt.Fprintf(a.Stdout, "%s is valid: team %s with %s\n",
		tty.SafeLine(path), tty.SafeLine(team.Name), tty.SafeLine(strings.Join(members, ", ")))
	return err
}

func (cmd *teamValidate) printJSON(a *app.App, path string, team *team.Team, err error) error {
	v := validated{Path: path, Valid: err == nil, Problems: []fieldProblem{}}
	var invalid *schemas.InvalidError
	switch {
	case errors.As(err, &invalid):
		for _, p := range invalid.Problems {
			v.Problems = append(v.Problems, fieldProblem{p.Path, p.Message})
		}
		v.Error = err.Error()
	case err != nil:
		v.Error = err.Error()
	default:
		v.Team = team.Name
		for _, p := range team.Warnings {
			v.Warnings = append(v.Warnings, fieldProblem{p.Path, p.Message})
		}
	}
	if printed := app.WriteJSON(a.Stdout, v); printed != nil || err == nil {
		return printed
	}
	return &app.ExitError{Code: app.ExitFailed}
}

// warnMember prints what a valid configuration of a member probably does not mean.
func warnMember(a *app.App, m team.Member) {
	if m.Type != team.AI {
		return
	}
	WarnIneffective(a, m)
	if plain := m.InPlain(); len(plain) > 0 {
		a.Notice(inPlainText(m, plain))
	}
	if _, err := os.Stat(m.BaseDir); errors.Is(err, fs.ErrNotExist) && m.BaseDir != "" {
		a.Notice(noBaseDirText(m))
	}
}

// WarnIneffective prints the settings of a member that have no effect.
func WarnIneffective(a *app.App, m team.Member) {
	if unset := m.Unset(); len(unset) > 0 {
		a.Notice(unsetNoticeText(m, unset))
	}
	if m.Type == team.AI && m.EngineName() == team.EngineCommand && m.Permissions != "" {
		a.Notice(noPermissionsText(m))
	}
}

// TeamList is the command team list.
type TeamList struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (TeamList) Help() string {
	return `Examples:
  agent-chatter team list
  agent-chatter team list --output json | jq -r .name`
}

// listedTeam is a row of the list.
type listedTeam struct {
	Name        string   `json:"name"` // as an argument
	Team        string   `json:"team,omitempty"`
	Description string   `json:"description,omitempty"`
	Path        string   `json:"path,omitempty"` // "" for the built-in team
	Members     []string `json:"members"`
	Valid       bool     `json:"valid"`
	Hidden      bool     `json:"hidden"` // by an earlier one of the same name
}

// Run implements the command.
func (cmd *TeamList) Run(a *app.App) error { return cmd.Print(a, a.Stdout) }

// Print prints the list to out and notices to Stderr.
func (cmd *TeamList) Print(a *app.App, out io.Writer) error {
	files, err := team.Files(a.Places())
	if err != nil {
		return err
	}
	rows := []listedTeam{}
	for _, f := range files {
		row := listedTeam{Name: f.Name, Path: f.Path, Members: []string{}, Hidden: f.Hidden}
		if f.Origin == team.BuiltIn {
			row = listedRow(row, team.Demo())
		} else if team, err := team.Load(f.Path, a.OwnHome); err == nil {
			row = listedRow(row, team)
		}
		rows = append(rows, row)
	}
	return cmd.print(a, out, rows)
}

func listedRow(row listedTeam, team *team.Team) listedTeam {
	row.Valid, row.Team, row.Description = true, team.Name, team.Description
	for _, m := range team.Members {
		row.Members = append(row.Members, m.Name)
	}
	return row
}

func (cmd *TeamList) print(a *app.App, out io.Writer, rows []listedTeam) error {
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	var invalid []app.Help
	for _, row := range rows {
		var err error
		if cmd.Output == "json" {
			err = app.WriteJSON(out, row)
		} else {
			_, err = fmt.Fprintln(w, listedText(row))
		}
		if !row.Valid {
			invalid = append(invalid,
				app.To("see why "+tty.SafeLine(row.Name)+" is not valid", "team", "validate", row.Path))
		}
		if err != nil {
			return err
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if cmd.Output != "json" && len(invalid) > 0 {
		a.Notice("", invalid...)
	}
	return nil
}

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

func unsetNoticeText(m team.Member, names []string) string {
	return fmt.Sprintf("Unset environment variables for %s: %s",
		tty.SafeLine(m.Name), tty.SafeLine(strings.Join(names, ", ")))
}

func noPermissionsText(m team.Member) string {
	return fmt.Sprintf("%s has no restrictions: the engine command ignores permissions.", tty.SafeLine(m.Name))
}

func inPlainText(m team.Member, names []string) string {
	return fmt.Sprintf(
		"The secrets of %s are stored in plain text: %s\nReplace each by \"$NAME\" to read it from your environment.",
		tty.SafeLine(m.Name),
		tty.SafeLine(strings.Join(names, ", ")),
	)
}

func noBaseDirText(m team.Member) string {
	return fmt.Sprintf("The base directory of %s does not exist: %s", tty.SafeLine(m.Name), tty.SafeLine(m.BaseDir))
}

// listedText is a row of the table of teams.
func listedText(row listedTeam) string {
	where := tty.SafeLine(row.Path)
	if row.Path == "" {
		where = "built in"
	}
	members := tty.SafeLine(strings.Join(row.Members, ", "))
	if !row.Valid {
		members = "not valid"
	}
	if row.Hidden {
		where += ", hidden by one of the same name"
	}
	return fmt.Sprintf("%s\t%s\t%s", tty.SafeLine(row.Name), members, where)
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
