package setup

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/oklog/ulid/v2"
)

const textAskingVersions = "Asking the programs for their versions"

// scannedText is a row of a scan.
func scannedText(s scanned) string {
	if !s.Found {
		return fmt.Sprintf("%s\t%s\tnot found\tto install it, type: %s", s.Name, s.DisplayName, s.Install)
	}
	state := "not registered"
	if s.Registered {
		state = "registered"
	}
	if s.Broken != "" {
		state += ", cannot be started: " + tty.SafeLine(s.Broken)
	}
	return fmt.Sprintf("%s\t%s\t%s\t%s, %s", s.Name, s.DisplayName, tty.SafeLine(orUnknown(s.Version)), tty.SafeLine(s.Path), state)
}

type agentsScan struct {
	Register bool   `help:"Register those that are found and are not registered yet."`
	Output   string `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (agentsScan) Help() string {
	return `Examples:
  agent-chatter agents scan
  agent-chatter agents scan --register`
}

// scanned is what a scan says of a known agent.
type scanned struct {
	Name        string   `json:"name"`
	DisplayName string   `json:"displayName"`
	Engine      string   `json:"engine"`
	Found       bool     `json:"found"`
	Path        string   `json:"path,omitempty"`
	Version     string   `json:"version,omitempty"`
	Broken      string   `json:"broken,omitempty"` // why it cannot be started
	Registered  bool     `json:"registered"`
	Command     string   `json:"command"`
	Args        []string `json:"args"`
	Install     string   `json:"install"`
}

// works reports whether the program is there and can be started, as far as is known.
func (s scanned) works() bool { return s.Found && s.Broken == "" }

// Run implements the command.
func (cmd *agentsScan) Run(a *app.App) error {
	registered, err := team.RegisteredAgents(a.Home)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	all := located()
	askVersions(a, ctx, all)
	if ctx.Err() != nil {
		return &app.ExitError{Code: app.ExitInterrupted}
	}
	for i := range all {
		s := &all[i]
		s.Registered = slices.ContainsFunc(registered, func(r team.Agent) bool { return r.Name == s.Name })
		if !cmd.Register || !s.works() || s.Registered {
			continue
		}
		if err := register(a, ctx, team.Agent{Name: s.Name, DisplayName: s.DisplayName, Command: s.Command, Args: s.Args, Version: s.Version}); err != nil {
			return err
		}
		s.Registered = true
	}
	return cmd.print(a, all)
}

func (cmd *agentsScan) print(a *app.App, all []scanned) error {
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	unregistered := 0
	for _, s := range all {
		var err error
		if cmd.Output == "json" {
			err = app.WriteJSON(a.Stdout, s)
		} else {
			_, err = fmt.Fprintln(w, scannedText(s))
		}
		if err != nil {
			return err
		}
		if s.works() && !s.Registered {
			unregistered++
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if unregistered > 0 {
		a.Notice("", app.To("register them for all teams", "agents", "scan", "--register"))
	}
	return nil
}

// located are the known agents, and where in PATH they are.
func located() []scanned {
	var all []scanned
	for _, k := range KnownAgents() {
		s := scanned{Name: k.Name, DisplayName: k.DisplayName, Engine: k.Engine, Command: k.Program, Args: append([]string{}, k.Args...), Install: hint.Join(k.Install)}
		if path, err := process.Find(process.Program{Command: k.Program}); err == nil {
			s.Found, s.Path = true, path
		}
		all = append(all, s)
	}
	return all
}

// askVersions asks each program that was found once which version it is.
func askVersions(a *app.App, ctx context.Context, all []scanned) {
	defer a.Spin(textAskingVersions)()
	first := map[string]*scanned{} // that was found at a path
	var asking sync.WaitGroup
	for i := range all {
		s := &all[i]
		if s.Found && first[s.Path] == nil {
			first[s.Path] = s
			asking.Go(func() { s.ask(ctx) })
		}
	}
	asking.Wait()
	for i, s := range all {
		if s.Found {
			all[i].Version, all[i].Broken = first[s.Path].Version, first[s.Path].Broken
		}
	}
}

// ask asks the program which version it is.
func (s *scanned) ask(ctx context.Context) {
	var err error
	var start *process.StartError
	if s.Version, err = versionOf(ctx, s.Path); errors.As(err, &start) {
		s.Broken = start.Err.Error()
	}
}

const (
	versionTime = 30 * time.Second // in which a program says which version it is, or how it is logged in
	saidMost    = 64 << 10         // bytes of it that are looked at
)

var versionNumber = regexp.MustCompile(`\d+\.\d+[0-9A-Za-z.+-]*`)

// versionOf is the version that a program says it is; "" when it does not say. The errors are
// those of brief.
func versionOf(ctx context.Context, command string) (string, error) {
	said, err := brief(ctx, agent.Turn{Member: agent.Member{Command: command, Args: []string{"--version"}}})
	if err != nil {
		return "", err
	}
	return versionNumber.FindString(said), nil
}

// brief is what a program prints that is asked a short question, in the environment that a
// turn's has.
func brief(ctx context.Context, turn agent.Turn) (string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, versionTime, notInTime(versionTime))
	defer cancel()
	turn.ID = ulid.Make().String()
	var said strings.Builder
	for e, err := range (agent.Command{}).Run(ctx, turn) {
		if err != nil {
			return said.String(), err
		}
		if text, ok := e.(agent.Text); ok && said.Len() < saidMost {
			said.WriteString(text.Text)
		}
	}
	return said.String(), nil
}
