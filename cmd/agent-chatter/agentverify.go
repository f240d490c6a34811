package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/oklog/ulid/v2"
)

type agentsVerify struct {
	Name       []string      `arg:"" optional:"" help:"Registered agents; without any, all of them."`
	Team       string        `short:"t" help:"Try out the members of this team instead, each as its configuration says." placeholder:"TEAM"`
	SkipDryRun bool          `help:"Do not ask the agents anything, which may cost money."`
	Timeout    time.Duration `help:"How long an agent may take to answer." default:"60s"`
	Output     string        `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (agentsVerify) Help() string {
	return `Examples:
  agent-chatter agents verify
  agent-chatter agents verify claude codex
  agent-chatter agents verify -t team.json
  agent-chatter agents verify --skip-dry-run`
}

// checked is what verify says of one check of an agent.
type checked struct {
	Agent string `json:"agent"`
	finding
}

// Run implements the command.
func (cmd *agentsVerify) Run(a *app) error {
	members, err := cmd.members(a)
	if err != nil {
		return err
	}
	ctx, stop := untilSignal()
	defer stop()
	v := &verification{
		app: a, ctx: ctx, engines: engines(agent.Demo{}), skipDryRun: cmd.SkipDryRun,
		patience: cmd.Timeout,
	}
	defer v.close()
	bad := 0
	for _, m := range members {
		sound, err := cmd.verify(v, m)
		if err != nil {
			return err
		}
		if !sound {
			bad++
		}
	}
	if bad > 0 {
		return &exitError{exitFailed, notWorkingText(bad, len(members))}
	}
	return nil
}

// verify tries one member out, and remembers of a registered agent that it works.
func (cmd *agentsVerify) verify(v *verification, m verified) (sound bool, err error) {
	secrets := v.app.redactor(append(m.Secrets(), team.InheritedSecrets()...))
	findings := v.try(m)
	if v.ctx.Err() != nil {
		return false, &exitError{code: exitInterrupted} // what was found is of no use
	}
	sound = true
	for _, f := range findings {
		f.What, f.Help = secrets.Text(f.What), secrets.Text(f.Help)
		sound = sound && f.State != stateWrong
		if err := cmd.print(v.app, checked{m.Name, f}); err != nil {
			return false, err
		}
	}
	if m.registered == nil || !sound || v.skipDryRun {
		return sound, nil
	}
	m.registered.LastVerified = now()
	m.registered.Version = cmp.Or(v.version, m.registered.Version)
	return true, team.Register(v.ctx, v.app.home, *m.registered)
}

func (cmd *agentsVerify) print(a *app, c checked) error {
	if cmd.Output == "json" {
		return writeJSON(a.stdout, c)
	}
	_, err := fmt.Fprintf(a.stdout, "%-5s  %s: %s: %s\n", c.State, safeLine(c.Agent), c.Check, safeLine(c.What))
	for line := range strings.Lines(a.advice(c.Help)) {
		if err == nil {
			_, err = fmt.Fprintf(a.stdout, "       %s\n", safeLine(strings.TrimSuffix(line, "\n")))
		}
	}
	return err
}

// verified is a member that is tried out.
type verified struct {
	team.Member
	registered *team.Agent // nil: it is a team's
}

// members are who is to be tried out.
func (cmd *agentsVerify) members(a *app) (members []verified, err error) {
	switch {
	case cmd.Timeout <= 0:
		return nil, usageError("--timeout takes a span of time, such as 60s.")
	case cmd.Team != "" && len(cmd.Name) > 0:
		return nil, usageError("Name agents, or a team with -t, not both.")
	case cmd.Team != "":
		return cmd.membersOfTeam(a)
	}
	agents, err := team.RegisteredAgents(a.home)
	if err != nil {
		return nil, err
	}
	if len(cmd.Name) > 0 {
		agents = nil
	}
	for _, name := range cmd.Name {
		r, err := team.RegisteredAgent(a.home, name)
		if err != nil {
			return nil, err
		}
		agents = append(agents, r)
	}
	if len(agents) == 0 {
		a.notice(textNoAgents)
	}
	for _, r := range agents {
		m := memberOf(r)
		m.BaseDir, m.Permissions = a.cwd, cautious[m.EngineName()]
		members = append(members, verified{m, &r})
	}
	return members, nil
}

func (cmd *agentsVerify) membersOfTeam(a *app) (members []verified, err error) {
	loaded, err := a.loadTeam(cmd.Team)
	if err != nil {
		return nil, err
	}
	for _, m := range loaded.Members {
		if m.Type == team.AI {
			m.BaseDir = cmp.Or(m.BaseDir, a.cwd)
			members = append(members, verified{m, nil})
		}
	}
	return members, nil
}

// cautious are the permissions with which an agent that belongs to no team is asked: the least.
var cautious = map[string]string{
	team.EngineClaude: agent.ReadOnly,
	team.EngineCodex:  agent.ReadOnly,
	team.EngineGemini: agent.ReadOnly,
}

// verification tries agents out.
type verification struct {
	*app
	ctx        context.Context
	engines    map[string]agent.Engine
	skipDryRun bool
	patience   time.Duration
	version    string // of the program that was tried last
}

// close ends what engines keep running.
func (v *verification) close() {
	for _, e := range v.engines {
		if lasting, ok := e.(interface{ Close() }); ok {
			lasting.Close()
		}
	}
}

// The checks of an agent.
const (
	checkExecutable     = "executable"
	checkAuthentication = "authentication"
	checkDryRun         = "dry run"
)

// try makes all checks that make sense: what cannot be started is not asked.
func (v *verification) try(m verified) []finding {
	defer v.spin(tryingOutText(m.Name))()
	v.version = ""
	executable := v.executable(m)
	if executable.State == stateWrong {
		return []finding{executable}
	}
	authentication := v.authentication(m)
	if v.skipDryRun {
		return []finding{executable, authentication}
	}
	answer := v.dryRun(m)
	switch {
	case answer.State != stateWrong && authentication.State == stateWrong:
		// It has its key from somewhere that its own login does not know of.
		authentication = anyhowText(authentication.What)
	case answer.State != stateWrong && authentication.State == stateNote:
		authentication = fine(textNothingMissing)
	}
	authentication.Check = checkAuthentication
	return []finding{executable, authentication, answer}
}

// known is what is known of the member's program.
func (m verified) known() agent.Known {
	if known, ok := agent.Recognize(m.Command, m.Args); ok {
		return known
	}
	for _, known := range knownAgents() {
		if m.Command == "" && known.Engine == m.EngineName() && (known.Name == m.EngineName() || known.Name == m.AgentType || known.Name == m.AgentType+"-acp") {
			return known
		}
	}
	return agent.Known{}
}

// turn is a question to the member.
func (m verified) turn(prompt string) agent.Turn {
	return agent.Turn{
		ID: ulid.Make().String(), Prompt: prompt, Dir: m.BaseDir, Member: m.ForEngine(""),
		Said: agent.Said{Speaker: "agent-chatter", Text: prompt},
	}
}

func (v *verification) executable(m verified) (f finding) {
	defer func() { f.Check = checkExecutable }()
	if v.engines[m.EngineName()] == nil {
		return noEngineText(m.EngineName())
	}
	if m.EngineName() == team.EngineDemo || m.EngineName() == team.EngineOpenAI {
		return fine(textNoProgramNeeded)
	}
	known, turn := m.known(), m.turn("")
	turn.Member.Command = cmp.Or(turn.Member.Command, known.Program)
	path, err := process.Find(process.Program{Command: turn.Member.Command, Env: turn.Member.Env, Dir: turn.Dir})
	var start *process.StartError
	if errors.As(err, &start) {
		if turn.Member.Command == known.Program {
			start.Install = known.Install
		}
		return noExecutableText(start)
	}
	if known.Program != "" {
		if v.version, err = versionOf(v.ctx, path); errors.As(err, &start) {
			return noExecutableText(start)
		}
	}
	return executableText(path, v.version)
}

// authentication asks the program whether it is logged in, where that is known to work; what is
// not known, the dry run shows.
func (v *verification) authentication(m verified) (f finding) {
	defer func() { f.Check = checkAuthentication }()
	if unset := m.Unset(); len(unset) > 0 {
		return unsetText(unset)
	}
	known := m.known()
	if known.LoggedIn == nil {
		return note(textLoginUnknown, "")
	}
	turn := m.turn("")
	turn.Member.Command, turn.Member.Args = cmp.Or(turn.Member.Command, known.Program), known.LoggedIn
	_, err := brief(v.ctx, turn)
	var exit *process.ExitError
	switch {
	case err == nil:
		return fine(textLoggedIn)
	case errors.As(err, &exit):
		return notLoggedInText(known.Login)
	}
	return note(noWordOnLoginText(err), "")
}

// shortQuestion is what an agent is asked, which costs as little as a question can.
const shortQuestion = "Reply with just the word OK."

// saidKept is how many bytes of an answer are shown.
const saidKept = 200

func (v *verification) dryRun(m verified) (f finding) {
	defer func() { f.Check = checkDryRun }()
	ctx, cancel := context.WithTimeoutCause(v.ctx, v.patience, notInTime(v.patience))
	defer cancel()
	began := now()
	var said strings.Builder
	for e, err := range v.engines[m.EngineName()].Run(ctx, m.turn(shortQuestion)) {
		if err != nil {
			return noAnswerText(err)
		}
		if text, ok := e.(agent.Text); ok && said.Len() < saidKept {
			said.WriteString(text.Text)
		}
	}
	answer := strings.TrimSpace(said.String())
	if answer == "" {
		return noAnswerText(errors.New("it ended without an answer"))
	}
	return answerText(answer[:min(len(answer), saidKept)], now().Sub(began))
}

// notInTime is why an agent is not waited for any longer.
func notInTime(patience time.Duration) error {
	return fmt.Errorf("it did not answer within %s", patience)
}
