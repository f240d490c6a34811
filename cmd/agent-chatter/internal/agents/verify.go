package agents

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

type verify struct {
	Name       []string      `arg:"" optional:"" help:"Registered agents (default: all)."`
	Team       string        `short:"t" help:"Verify the members of this team instead." placeholder:"TEAM"`
	SkipDryRun bool          `help:"Skip the test prompt, for which vendors may charge."`
	Timeout    time.Duration `help:"Time limit for an answer (default: ${default})." default:"60s"`
	Output     string        `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (verify) Help() string {
	return `Examples:
  agent-chatter agents verify
  agent-chatter agents verify claude codex
  agent-chatter agents verify -t team.json
  agent-chatter agents verify --skip-dry-run`
}

// checked is a finding about an agent in JSON output.
type checked struct {
	Agent string `json:"agent"`
	app.Finding
}

// Run implements the command.
func (cmd *verify) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	members, err := cmd.members(ctx, a)
	if err != nil {
		return err
	}
	v := &verification{
		App: a, ctx: ctx, engines: app.Engines(agent.Demo{}), skipDryRun: cmd.SkipDryRun,
		timeout: cmd.Timeout,
	}
	defer v.close()
	bad := 0
	for _, m := range members {
		ok, err := cmd.verify(v, m)
		if err != nil {
			return err
		}
		if !ok {
			bad++
		}
	}
	if bad > 0 {
		return app.Exit(app.ExitFailed, app.Message{Text: notWorkingText(bad, len(members))})
	}
	return nil
}

// verify runs the checks of a member and prints them. If a registered agent passes, the
// registry records when and with which version.
func (cmd *verify) verify(v *verification, m target) (ok bool, err error) {
	secrets := v.App.Redactor(append(m.Secrets(), team.InheritedSecrets()...))
	findings := v.try(m)
	if v.ctx.Err() != nil {
		return false, &app.ExitError{Code: app.ExitInterrupted}
	}
	ok = true
	for _, f := range findings {
		f = v.Resolve(f)
		f.What, f.Help = secrets.Text(f.What), secrets.Text(f.Help)
		ok = ok && f.State != app.StateWrong
		if err := cmd.print(v.App, checked{m.Name, f}); err != nil {
			return false, err
		}
	}
	if m.registered == nil || !ok || v.skipDryRun {
		return ok, nil
	}
	m.registered.LastVerified = time.Now()
	m.registered.Version = cmp.Or(v.version, m.registered.Version)
	return true, team.Register(v.ctx, v.App.OwnHome, *m.registered)
}

func (cmd *verify) print(a *app.App, c checked) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, c)
	}
	_, err := fmt.Fprintf(a.Stdout, "%-5s  %s: %s: %s\n", c.State, tty.SafeLine(c.Agent), c.Check, tty.SafeLine(c.What))
	for line := range strings.Lines(c.Help) {
		if err == nil {
			_, err = fmt.Fprintf(a.Stdout, "       %s\n", tty.SafeLine(strings.TrimSuffix(line, "\n")))
		}
	}
	return err
}

// target is a member to verify.
type target struct {
	team.Member
	registered *team.Agent // nil for a member of a team
}

// members returns the members to verify.
func (cmd *verify) members(ctx context.Context, a *app.App) (members []target, err error) {
	switch {
	case cmd.Timeout <= 0:
		return nil, app.UsageError("--timeout needs a duration above zero, such as 60s.")
	case cmd.Team != "" && len(cmd.Name) > 0:
		return nil, app.UsageError("Specify agents or a team with -t, not both.")
	case cmd.Team != "":
		return cmd.membersOfTeam(ctx, a)
	}
	agents, err := team.RegisteredAgents(a.OwnHome)
	if err != nil {
		return nil, err
	}
	if len(cmd.Name) > 0 {
		agents = nil
	}
	for _, name := range cmd.Name {
		r, err := team.RegisteredAgent(a.OwnHome, name)
		if err != nil {
			return nil, err
		}
		agents = append(agents, r)
	}
	if len(agents) == 0 {
		a.Show(noAgentsText())
	}
	for _, r := range agents {
		m := MemberOf(r)
		m.BaseDir, m.Permissions = a.Cwd, leastPermissions[m.EngineName()]
		members = append(members, target{m, &r})
	}
	return members, nil
}

func (cmd *verify) membersOfTeam(ctx context.Context, a *app.App) (members []target, err error) {
	loaded, err := teams.Loader{App: a}.Load(ctx, cmd.Team)
	if err != nil {
		return nil, err
	}
	for _, m := range loaded.Members {
		if m.Type == team.AI {
			m.BaseDir = cmp.Or(m.BaseDir, a.Cwd)
			members = append(members, target{m, nil})
		}
	}
	return members, nil
}

// leastPermissions are the permissions of an agent outside of a team.
var leastPermissions = map[string]string{
	team.EngineClaude: agent.ReadOnly,
	team.EngineCodex:  agent.ReadOnly,
	team.EngineGemini: agent.ReadOnly,
}

func notWorkingText(bad, of int) string {
	return fmt.Sprintf("%d of %s failed.", bad, app.Count(of, "agent"))
}
