package agents

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
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
	list := view.FindingsOnTerminal(a, cmd.Output, checkExecutable, checkAuthentication, checkDryRun)
	members, err := cmd.members(ctx, a)
	if err != nil || len(members) == 0 {
		return err
	}
	v := &verification{
		App: a, ctx: ctx, engines: agent.Engines(), skipDryRun: cmd.SkipDryRun,
		timeout: cmd.Timeout,
	}
	defer v.close()
	bad := 0
	for _, m := range members {
		ok, err := cmd.verify(v, list, m)
		if err != nil {
			return err
		}
		if !ok {
			bad++
		}
	}
	summary := answeredText(len(members), cmd.SkipDryRun)
	if bad > 0 {
		summary = notWorkingText(bad, len(members))
		err = app.Exit(app.ExitFailed, app.Message{Text: summary})
	}
	return list.End(summary, err)
}

// verify runs the checks of a member and prints them. If a registered agent passes, the
// registry records when and with which version.
func (cmd *verify) verify(v *verification, list *view.Findings, m target) (ok bool, err error) {
	secrets := v.App.Redactor(append(m.Secrets(), team.InheritedSecrets()...))
	findings := v.try(m)
	if v.ctx.Err() != nil {
		return false, &app.ExitError{Code: app.ExitInterrupted}
	}
	if list != nil {
		if err := list.Begin(m.Name); err != nil {
			return false, err
		}
	}
	ok = true
	for _, f := range findings {
		ok = ok && f.State != app.StateWrong
		if err := cmd.print(v.App, list, secrets, checked{m.Name, f}); err != nil {
			return false, err
		}
	}
	if m.registered == nil || !ok || v.skipDryRun {
		return ok, nil
	}
	m.registered.LastVerified = time.Now()
	m.registered.Version = cmp.Or(v.version, m.registered.Version)
	return true, team.Register(v.ctx, v.App.Home, *m.registered)
}

func (cmd *verify) print(a *app.App, list *view.Findings, secrets *redact.Redactor, c checked) error {
	if list != nil {
		f := c.Finding
		f.What, f.Help = secrets.Text(f.What), secrets.Text(f.Help)
		for i := range f.Commands {
			argv := slices.Clone(f.Commands[i].Command.Argv)
			for j := range argv {
				argv[j] = secrets.Text(argv[j])
			}
			f.Commands[i].Command.Argv = argv
		}
		return list.Add(f)
	}
	c.Finding = a.Resolve(c.Finding)
	c.What, c.Help = secrets.Text(c.What), secrets.Text(c.Help)
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, c)
	}
	return app.WriteFinding(a.Stdout, tty.SafeLine(c.Agent)+": "+c.Check, c.Finding)
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
	if err := a.CheckHome(); err != nil {
		return nil, err
	}
	agents, err := team.RegisteredAgents(a.Home)
	if err != nil {
		return nil, err
	}
	if len(cmd.Name) > 0 {
		agents = nil
	}
	for _, name := range cmd.Name {
		r, err := team.RegisteredAgent(a.Home, name)
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
		m.BaseDir = a.Cwd
		if slices.Contains(m.EngineInfo().Permissions, agent.ReadOnly) {
			m.Permissions = agent.ReadOnly
		}
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

// answeredText is the last line on a terminal if all agents work.
func answeredText(agents int, skipDryRun bool) string {
	if skipDryRun {
		return app.Count(agents, "agent") + " checked without a dry run."
	}
	return app.Count(agents, "agent") + " answered."
}

func notWorkingText(bad, of int) string {
	return fmt.Sprintf("%d of %s failed.", bad, app.Count(of, "agent"))
}
