package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

type scan struct {
	Register bool   `help:"Register the agents found."`
	Output   string `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (scan) Help() string {
	return `Examples:
  agent-chatter agents scan
  agent-chatter agents scan --register`
}

// Scanned is a known agent and whether it is installed.
type Scanned struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Engine      string   `json:"engine"`
	Found       bool     `json:"found"`
	Path        string   `json:"path,omitempty"`
	Version     string   `json:"version,omitempty"`
	Broken      string   `json:"broken,omitempty"` // why it does not start
	Registered  bool     `json:"registered"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
	Install     string   `json:"install"`

	// Other is whether the agent is another way to run an agent that has an engine of its own.
	Other bool `json:"-"`
}

// works reports whether the program was found and did not fail to start.
func (s Scanned) works() bool { return s.Found && s.Broken == "" }

// Run implements the command.
func (cmd *scan) Run(a *app.App) error {
	registered, err := team.RegisteredAgents(a.Home)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	all := InPath()
	askVersions(ctx, a, all)
	if ctx.Err() != nil {
		return &app.ExitError{Code: app.ExitInterrupted}
	}
	for i := range all {
		s := &all[i]
		s.Registered = slices.ContainsFunc(registered, func(r team.Agent) bool { return r.Name == s.Name })
		if !cmd.Register || !s.works() || s.Registered {
			continue
		}
		r := team.Agent{Name: s.Name, DisplayName: s.DisplayName, Command: s.Command, Args: s.Args, Version: s.Version}
		if err := add(ctx, a, r); err != nil {
			return err
		}
		s.Registered = true
	}
	return cmd.print(a, all)
}

func (cmd *scan) print(a *app.App, all []Scanned) error {
	var err error
	switch {
	case cmd.Output == "json":
		for _, s := range all {
			err = cmp.Or(err, app.WriteJSON(a.Stdout, s))
		}
	case tty.IsTerminal(a.Stdout):
		err = writeScanned(a.Stdout, all, view.OutputStyle(a))
	default:
		w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
		for _, s := range all {
			fmt.Fprintln(w, scannedText(s)) // Flush returns its error
		}
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	if slices.ContainsFunc(all, func(s Scanned) bool { return s.works() && !s.Registered }) {
		a.Notice("", app.To("register them for all teams", "agents", "scan", "--register"))
	}
	return nil
}

// InPath looks for each known agent in PATH. It runs none of them.
func InPath() []Scanned {
	var all []Scanned
	for _, k := range agent.KnownAgents() {
		s := Scanned{
			Name: k.Name, DisplayName: k.DisplayName, Engine: k.Engine,
			Command: k.Program, Args: append([]string{}, k.Args...), Install: hint.Join(k.Install),
			Other: k.AgentType != "",
		}
		if path, err := process.Find(process.Program{Command: k.Program}); err == nil {
			s.Found, s.Path = true, path
		}
		all = append(all, s)
	}
	return all
}

// Working returns the installed agents that can be started, one per program.
func Working(ctx context.Context, a *app.App) []Scanned {
	all := InPath()
	askVersions(ctx, a, all)
	programs := map[string]bool{}
	return slices.DeleteFunc(all, func(s Scanned) bool {
		skip := !s.works() || s.Other || programs[s.Path]
		programs[s.Path] = programs[s.Path] || !skip
		return skip
	})
}

// askVersions runs each program found with --version, once per path.
func askVersions(ctx context.Context, a *app.App, all []Scanned) {
	defer a.Begin("Reading program versions")()
	first := map[string]*Scanned{} // by path
	var asking sync.WaitGroup
	for i := range all {
		s := &all[i]
		if s.Found && first[s.Path] == nil {
			first[s.Path] = s
			asking.Go(func() {
				var err error
				var failed *process.StartError
				if s.Version, err = versionOf(ctx, s.Path); errors.As(err, &failed) {
					s.Broken = failed.Err.Error()
				}
			})
		}
	}
	asking.Wait()
	for i, s := range all {
		if s.Found {
			all[i].Version, all[i].Broken = first[s.Path].Version, first[s.Path].Broken
		}
	}
}

// scannedText is a row of the table of agents.
func scannedText(s Scanned) string {
	if !s.Found {
		return fmt.Sprintf("%s\t%s\tnot found\tinstall with: %s", s.Name, s.DisplayName, s.Install)
	}
	state := "not registered"
	if s.Registered {
		state = "registered"
	}
	if s.Broken != "" {
		state += ", does not start: " + tty.SafeLine(s.Broken)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s, %s",
		s.Name, s.DisplayName, tty.SafeLine(cmp.Or(s.Version, "unknown")), tty.SafeLine(s.Path), state)
}

// writeScanned prints the agents on a terminal: those that were found as a table, and below it the commands that
// install the others, whole.
func writeScanned(w io.Writer, all []Scanned, s view.Style) error {
	found := &ansi.Table{Columns: []ansi.Column{
		{Name: "NAME", Least: 12}, {Name: "AGENT", Least: 12, Rank: 3}, {Name: "STATE", Least: 14},
		{Name: "VERSION", Least: 8, Rank: 2}, {Name: "PROGRAM", Least: 16, Path: true, Rank: 1},
	}}
	var missing []Scanned
	width := 0
	for _, a := range all {
		if !a.Found {
			missing = append(missing, a)
			width = max(width, len(a.DisplayName))
			continue
		}
		state := ansi.Text("not registered", ansi.Style{Color: ansi.Yellow})
		switch {
		case a.Broken != "":
			state = ansi.Text("does not start: "+a.Broken, ansi.Style{Color: ansi.Red})
		case a.Registered:
			state = ansi.Text("registered", ansi.Style{Color: ansi.Green})
		}
		found.Add(ansi.Text(a.Name, ansi.Style{Color: ansi.Cyan}), ansi.Text(a.DisplayName, ansi.Style{}), state,
			ansi.Text(a.Version, ansi.Style{}), ansi.Text(app.ShortPath(a.Path), ansi.Style{Dim: true}))
	}
	lines := found.Lines(s.Width - 1)
	if len(missing) > 0 && len(lines) > 0 {
		lines = append(lines, nil)
	}
	if len(missing) > 0 {
		lines = append(lines, ansi.Line{{Text: "Not found. To install one, type:", Style: ansi.Style{Dim: true}}})
	}
	for _, a := range missing {
		name := ansi.Span{Text: fmt.Sprintf("  %-*s  ", width, a.DisplayName)}
		lines = append(lines, ansi.Line{name, {Text: a.Install, Style: ansi.Style{Color: ansi.Cyan}}})
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(s.Profile.Encode(line) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
