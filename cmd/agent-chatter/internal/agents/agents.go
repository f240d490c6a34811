package agents

import (
	"cmp"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

func noAgentsText() app.Message {
	return app.Text("No agent is registered.").With(app.To("find installed agents", "agents", "scan"))
}

// Command is the command agents.
type Command struct {
	List     list     `cmd:"" aliases:"ls" default:"withargs" help:"List the registered agents."`
	Scan     scan     `cmd:"" help:"Find installed agents."`
	Register register `cmd:"" help:"Register an agent for all teams."`
	Info     info     `cmd:"" help:"Show a registered agent."`
	Verify   verify   `cmd:"" help:"Check that agents run and answer."`
	Delete   remove   `cmd:"" aliases:"rm" help:"Remove an agent from the registry."`
}

// Help shows examples first.
func (Command) Help() string {
	return `Examples:
  agent-chatter agents scan
  agent-chatter agents register claude
  agent-chatter agents verify`
}

type list struct {
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (list) Help() string {
	return `Examples:
  agent-chatter agents list`
}

// agentJSON is a registered agent in JSON output.
type agentJSON struct {
	Name         string     `json:"name"`
	Command      string     `json:"command"`
	Args         []string   `json:"args"`
	DisplayName  string     `json:"displayName"`
	Engine       string     `json:"engine"`
	Version      string     `json:"version,omitempty"`
	InstalledAt  *time.Time `json:"installedAt,omitempty"`
	LastVerified *time.Time `json:"lastVerified,omitempty"`
}

func newAgentJSON(r team.Agent) agentJSON {
	j := agentJSON{
		Name: r.Name, Command: r.Command, Args: append([]string{}, r.Args...), DisplayName: r.DisplayName,
		Engine: MemberOf(r).EngineName(), Version: r.Version,
	}
	if !r.InstalledAt.IsZero() {
		j.InstalledAt = &r.InstalledAt
	}
	if !r.LastVerified.IsZero() {
		j.LastVerified = &r.LastVerified
	}
	return j
}

// Run implements the command.
func (cmd *list) Run(a *app.App) error {
	agents, err := team.RegisteredAgents(a.Home)
	if err != nil {
		return err
	}
	if len(agents) == 0 && cmd.Output == "text" {
		a.Show(noAgentsText())
	}
	if cmd.Output == "text" && tty.IsTerminal(a.Stdout) {
		style := view.OutputStyle(a)
		return terminalList(agents, time.Now()).Write(a.Stdout, style.Width, style.Profile)
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	for _, r := range agents {
		if cmd.Output == "json" {
			err = app.WriteJSON(a.Stdout, newAgentJSON(r))
		} else {
			_, err = fmt.Fprintf(w, "%s\t%s\n", tty.SafeLine(r.Name), commandLine(r))
		}
		if err != nil {
			return err
		}
	}
	return w.Flush()
}

// terminalList returns the list as a terminal shows it.
func terminalList(agents []team.Agent, now time.Time) *ansi.Table {
	t := &ansi.Table{Columns: []ansi.Column{
		{Name: "NAME", Least: 12}, {Name: "COMMAND", Least: 16, Rank: 1}, {Name: "ENGINE", Rank: 4},
		{Name: "VERSION", Least: 8, Rank: 3}, {Name: "VERIFIED", Rank: 2},
	}}
	dim := ansi.Style{Dim: true}
	for _, r := range agents {
		verified := "never"
		if !r.LastVerified.IsZero() {
			verified = app.Age(r.LastVerified, now)
		}
		t.Add(ansi.Text(r.Name, ansi.Style{Color: ansi.Cyan}), ansi.Text(commandLine(r), ansi.Style{}),
			ansi.Text(MemberOf(r).EngineName(), ansi.Style{}), ansi.Text(r.Version, ansi.Style{}),
			ansi.Text(verified, dim))
	}
	return t
}

// commandLine is an agent's command for people to read. It is not quoted.
func commandLine(r team.Agent) string {
	return tty.SafeLine(strings.Join(append([]string{r.Command}, r.Args...), " "))
}

type info struct {
	Name   string `arg:"" help:"Name of the agent."`
	Output string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (info) Help() string {
	return `Examples:
  agent-chatter agents info claude`
}

// Run implements the command.
func (cmd *info) Run(a *app.App) error {
	r, err := team.RegisteredAgent(a.Home, cmd.Name)
	if err != nil {
		return err
	}
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, newAgentJSON(r))
	}
	rows := agentRows(a, r)
	if tty.IsTerminal(a.Stdout) {
		style := view.OutputStyle(a)
		return ansi.WriteFields(a.Stdout, rows, style.Width, style.Profile)
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	for _, row := range rows {
		if _, err := fmt.Fprintf(w, "%s\t%s\n", row[0], row[1]); err != nil {
			return err
		}
	}
	return w.Flush()
}

// agentRows returns the labels and values of `agents info`.
func agentRows(a *app.App, r team.Agent) [][2]string {
	found, err := process.Find(process.Program{Dir: a.Cwd, Command: r.Command})
	if err != nil {
		found = err.Error()
	}
	return [][2]string{
		{"name", tty.SafeLine(r.Name)},
		{"display name", tty.SafeLine(r.DisplayName)},
		{"command", commandLine(r)},
		{"program", tty.SafeLine(found)},
		{"engine", MemberOf(r).EngineName()},
		{"version", tty.SafeLine(cmp.Or(r.Version, "unknown"))},
		{"installed", timeOrNever(r.InstalledAt)},
		{"verified", timeOrNever(r.LastVerified)},
	}
}

func timeOrNever(t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	return t.Local().Format("2006-01-02 15:04")
}

// MemberOf returns the team member that uses a registered agent, with the engine for
// its command.
func MemberOf(r team.Agent) team.Member {
	m := team.Member{
		ID: r.Name, Name: r.Name, DisplayName: r.DisplayName, Type: team.AI, AgentType: r.Name,
		Command: r.Command, Args: r.Args,
	}
	if known, ok := agent.Recognize(r.Command, r.Args); ok {
		m.Engine = known.Engine
	}
	return m
}
