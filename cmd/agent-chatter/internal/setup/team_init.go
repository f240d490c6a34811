package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// teamInit is the command team init.
type teamInit struct {
	File   string   `arg:"" optional:"" help:"File to write, or name of the configuration."`
	Agents []string `help:"Agents in the team (default: those found)." placeholder:"AGENT"`

	Template *string `help:"The roles of the agents: ${enum} (default: none)." enum:"solo,pair,plan-and-work,panel" placeholder:"NAME"`

	Permissions *string `help:"What the agents may do: ${enum} (default: ask)." enum:"ask,edit,allow,read,deny" placeholder:"VALUE"`

	Yes bool `short:"y" help:"Accept the defaults without asking."`
}

// Help shows examples first.
func (teamInit) Help() string {
	return `Examples:
  agent-chatter team init
  agent-chatter team init review --agents claude,codex --permissions edit
  agent-chatter team init --template pair --agents claude,codex
  agent-chatter team init team.json --yes`
}

const (
	draftRounds      = 10
	draftDescription = "Agents and you"
)

// Run implements the command.
func (cmd *teamInit) Run(a *app.App) error {
	choices, err := findAgents(a)
	if err != nil {
		return err
	}
	path, name := cmd.place(a)
	if _, err := os.Lstat(path); err == nil {
		return app.Exit(app.ExitFailed, fileExistsText(path))
	}
	if other, taken := sameName(a, name); taken && filepath.Dir(path) == filepath.Join(a.Cwd, localTeams) {
		return app.Exit(app.ExitUsage, nameTakenText(name, other))
	}
	d := draft{
		name:        name,
		description: draftDescription,
		agents:      cmd.Agents,
		registered:  choices.registered,
		human:       "you",
		maxRounds:   draftRounds,
		permissions: agent.Ask,
	}
	if cmd.Template != nil {
		d.template = templateOf(*cmd.Template)
		d.description = d.template.description
	}
	if cmd.Permissions != nil {
		d.permissions = *cmd.Permissions
	}
	if u, err := user.Current(); err == nil && u.Username != "root" {
		d.human = plainName(filepath.Base(strings.ReplaceAll(u.Username, `\`, "/")), d.human)
	}
	if len(d.agents) == 0 {
		d.agents = choices.found
	}
	if a.IsTerminal() && !cmd.Yes {
		if err := askUser(a, &d, choices, cmd.Permissions == nil); err != nil {
			return err
		}
	}
	if unknown := choices.unknown(d.agents); len(unknown) > 0 {
		return app.Exit(app.ExitUsage, unknownAgentsText(unknown, choices.all()))
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	return writeTeam(ctx, a, path, d)
}

// writeTeam writes the configuration and prints how to use it.
func writeTeam(ctx context.Context, a *app.App, path string, d draft) error {
	baseDir := a.Cwd
	if relative, err := filepath.Rel(filepath.Dir(path), a.Cwd); err == nil && strings.Count(relative, "..") <= 2 {
		baseDir = filepath.ToSlash(relative)
	}
	content, err := d.file(baseDir)
	if err != nil {
		return err
	}
	if below, err := filepath.Rel(a.Home, path); err == nil && filepath.IsLocal(below) {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	err = app.WriteAtomically(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Stdout, path); err != nil {
		return err
	}
	if _, err := (teams.Loader{App: a}).Load(ctx, path); err != nil {
		return err // of the agent registry
	}
	members, _ := d.members()
	a.Show(writtenTeamText(teamArgument(a, path), d.template.firstMessage(members)))
	return nil
}

// teamArgument returns how to name the team on a command line.
func teamArgument(a *app.App, path string) string {
	name := strings.TrimSuffix(filepath.Base(path), ".json")
	if found, err := team.Find(name, a.Places()); err == nil && found.Path == path {
		return name
	}
	if relative, err := filepath.Rel(a.Cwd, path); err == nil && filepath.IsLocal(relative) {
		return relative
	}
	return path
}

// place returns the path of the configuration and the name of the team. A bare name
// goes to the directory where commands look for teams by name.
func (cmd *teamInit) place(a *app.App) (path, name string) {
	file := cmd.File
	if file == "" {
		file = defaultName(a)
	}
	name = strings.TrimSuffix(filepath.Base(file), ".json")
	switch {
	case filepath.IsAbs(file):
		return file, name
	case file != filepath.Base(file) || strings.HasSuffix(file, ".json"):
		return filepath.Join(a.Cwd, file), name
	}
	return filepath.Join(a.Cwd, localTeams, file+".json"), name
}

// maxDefaultName limits the length of a default name, so that file systems accept the names of its files.
const maxDefaultName = 64

// defaultName returns the name of a team that the user has not named: that of the working directory, with a
// suffix if another team has it or it is the name of a Windows device.
func defaultName(a *app.App) string {
	base := plainName(filepath.Base(a.Cwd), "team")
	base = strings.TrimRight(base[:min(len(base), maxDefaultName)], "-")
	name := base
	for n := 1; ; n++ {
		if _, taken := sameName(a, name); !taken && filepath.IsLocal(name+".json") {
			return name
		}
		name = base + "-team"
		if n > 1 {
			name += fmt.Sprint("-", n)
		}
	}
}

// sameName returns another team that has the name of a new one in the working directory. A file there is none: the
// new team comes before it.
func sameName(a *app.App, name string) (other team.File, ok bool) {
	other, err := team.Find(name, a.Places())
	if err != nil || other.Origin == team.FoundHere && filepath.Dir(other.Path) == a.Cwd {
		return team.File{}, false
	}
	return other, other.Path != filepath.Join(a.Cwd, localTeams, name+".json")
}

// localTeams is where commands look for the teams of the working directory.
var localTeams = filepath.Join(".agent-chatter", "team-config")

// choices are the agents that a team can have.
type choices struct {
	found []string // installed or registered, one per program
	more  []string // other known agents

	registered []team.Agent
}

func (c choices) all() []string { return slices.Concat(c.found, c.more) }

func (c choices) unknown(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(c.all(), name) })
}

// findAgents returns the registered and the known agents. If none is installed, the
// demo is the only one found.
func findAgents(a *app.App) (choices, error) {
	registered, err := team.RegisteredAgents(a.Home)
	if err != nil {
		return choices{}, err
	}
	c := choices{registered: registered}
	programs := map[string]bool{}
	for _, s := range agents.InPath() {
		if s.Found && !s.Other && !programs[s.Path] {
			programs[s.Path] = true
			c.found = append(c.found, s.Name)
		} else {
			c.more = append(c.more, s.Name)
		}
	}
	for _, r := range registered {
		if !slices.Contains(c.all(), r.Name) {
			c.found = append(c.found, r.Name)
		}
	}
	if len(c.found) == 0 {
		c.found = []string{team.Demo().Name}
	}
	for _, engine := range agent.Infos() {
		for _, agentType := range engine.AgentTypes {
			if engine.BuiltIn() && !slices.Contains(c.all(), agentType) {
				c.more = append(c.more, agentType)
			}
		}
	}
	return c, nil
}

// writtenTeamText names the commands for a new team. first is a first message to it; "": any will do.
func writtenTeamText(name, first string) app.Message {
	m := app.Message{Help: []app.Help{
		app.To("chat with the team", "chat", "-t", name), app.To("verify its agents", "agents", "verify", "-t", name),
	}}
	if first != "" {
		m = m.With(app.To("ask all at the same time", "chat", "-t", name, "-m", first))
	}
	return m
}

// nameTakenText is for a new team with the name of another one: one of them would hide the other.
func nameTakenText(name string, found team.File) app.Message {
	what := "is built in"
	if found.Path != "" {
		what = "is " + tty.SafeLine(found.Path)
	}
	return app.Text("The team %s %s. A new team needs another name.", tty.SafeLine(name), what).
		With(app.To("use another name", "team", "init", "NAME"), app.To("name a file", "team", "init", name+".json"))
}

func fileExistsText(path string) app.Message {
	return app.Text("The file %s exists.", tty.SafeLine(path)).With(app.To("use another name", "team", "init", "NAME"))
}

func unknownAgentsText(unknown, known []string) app.Message {
	return app.Text("Unknown agents: %s. Known are: %s.",
		tty.SafeLine(strings.Join(unknown, ", ")), tty.SafeLine(strings.Join(known, ", "))).
		With(app.To("add an agent", "agents", "register", "NAME", "PROGRAM"))
}
