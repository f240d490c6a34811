package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/oklog/ulid/v2"
)

const textNoProgramNeeded = "it needs no program"

const textLoggedIn = "it is logged in"

const textNothingMissing = "it answers, so that no login is missing"

const textLoginUnknown = "only an answer shows whether it is logged in"

func tryingOutText(name string) string { return "Trying out " + tty.SafeLine(name) }

func executableText(path, version string) app.Finding {
	if version != "" {
		version = ", version " + version
	}
	return app.Fine(tty.SafeLine(path + version))
}

func noExecutableText(err *process.StartError) app.Finding {
	if err.Command == "" {
		return app.Wrong(app.Sentence(err), "")
	}
	what := tty.SafeLine(fmt.Sprintf("%q cannot be started: %v", err.Command, err.Err))
	return withRemedy(app.Wrong(what, ""), agent.Remedy{Advice: err.Advice(), Hint: err.Hint()})
}

func noEngineText(name string) app.Finding {
	return app.Wrong(fmt.Sprintf("there is no engine %q", tty.SafeLine(name)), "Correct the member's engine; a newer agent-chatter may know it.")
}

func unsetText(names []string) app.Finding {
	return app.Wrong("not set in your environment: "+tty.SafeLine(strings.Join(names, ", ")), "Set it before you start the chat, such as: export "+tty.SafeLine(names[0])+"=…")
}

func notLoggedInText(login agent.Remedy) app.Finding {
	return withRemedy(app.Wrong("it says that it is not logged in", ""), login)
}

// withRemedy adds what an engine advises. Retrying a turn means verifying again.
func withRemedy(f app.Finding, r agent.Remedy) app.Finding {
	command := r.Hint
	if command.Kind == hint.Slash {
		command = hint.Hint{Kind: hint.Command, Argv: []string{"agents", "verify"}}
	}
	if command.Kind == "" {
		f.Help = app.Sentence(errors.New(r.Advice))
		return f
	}
	f.Commands = append(f.Commands, app.Help{Purpose: tty.SafeLine(r.Advice), Command: command})
	return f
}

// noWordOnLoginText says why a program has not said whether it is logged in.
func noWordOnLoginText(err error) string {
	return "it has not said whether it is logged in: " + tty.SafeLine(err.Error())
}

// anyhowText is said of an agent that answers though it does not look like it could.
func anyhowText(what string) app.Finding {
	return app.Note(what+"; it answers all the same", "")
}

// noAnswerText says why an agent did not answer.
func noAnswerText(err error) app.Finding {
	var failure *agent.FailureError
	var start *process.StartError
	switch {
	case errors.As(err, &failure):
		return withRemedy(app.Wrong(tty.SafeLine(failure.Reason), ""), failure.Remedy)
	case errors.As(err, &start):
		return noExecutableText(start)
	}
	return app.Wrong(tty.SafeLine(err.Error()), "Run it by hand to see more; --timeout gives it more time.")
}

func answerText(answer string, took time.Duration) app.Finding {
	return app.Fine(fmt.Sprintf("it answered “%s” in %.1f s", tty.SafeLine(answer), took.Seconds()))
}

func notWorkingText(bad, of int) string {
	return fmt.Sprintf("%d of %s did not work.", bad, app.Count(of, "agent"))
}

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
	app.Finding
}

// Run implements the command.
func (cmd *agentsVerify) Run(a *app.App) error {
	members, err := cmd.members(a)
	if err != nil {
		return err
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	v := &verification{
		App: a, ctx: ctx, engines: app.Engines(agent.Demo{}), skipDryRun: cmd.SkipDryRun,
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
		return app.Exit(app.ExitFailed, app.Message{Text: notWorkingText(bad, len(members))})
	}
	return nil
}

// verify tries one member out, and remembers of a registered agent that it works.
func (cmd *agentsVerify) verify(v *verification, m verified) (sound bool, err error) {
	secrets := v.App.Redactor(append(m.Secrets(), team.InheritedSecrets()...))
	findings := v.try(m)
	if v.ctx.Err() != nil {
		return false, &app.ExitError{Code: app.ExitInterrupted} // what was found is of no use
	}
	sound = true
	for _, f := range findings {
		f = v.Resolve(f)
		f.What, f.Help = secrets.Text(f.What), secrets.Text(f.Help)
		sound = sound && f.State != app.StateWrong
		if err := cmd.print(v.App, checked{m.Name, f}); err != nil {
			return false, err
		}
	}
	if m.registered == nil || !sound || v.skipDryRun {
		return sound, nil
	}
	m.registered.LastVerified = time.Now()
	m.registered.Version = cmp.Or(v.version, m.registered.Version)
	return true, team.Register(v.ctx, v.App.Home, *m.registered)
}

func (cmd *agentsVerify) print(a *app.App, c checked) error {
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

// verified is a member that is tried out.
type verified struct {
	team.Member
	registered *team.Agent // nil: it is a team's
}

// members are who is to be tried out.
func (cmd *agentsVerify) members(a *app.App) (members []verified, err error) {
	switch {
	case cmd.Timeout <= 0:
		return nil, app.UsageError("--timeout takes a span of time, such as 60s.")
	case cmd.Team != "" && len(cmd.Name) > 0:
		return nil, app.UsageError("Name agents, or a team with -t, not both.")
	case cmd.Team != "":
		return cmd.membersOfTeam(a)
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
		m := memberOf(r)
		m.BaseDir, m.Permissions = a.Cwd, cautious[m.EngineName()]
		members = append(members, verified{m, &r})
	}
	return members, nil
}

func (cmd *agentsVerify) membersOfTeam(a *app.App) (members []verified, err error) {
	loaded, err := a.LoadTeam(cmd.Team)
	if err != nil {
		return nil, err
	}
	for _, m := range loaded.Members {
		if m.Type == team.AI {
			m.BaseDir = cmp.Or(m.BaseDir, a.Cwd)
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
	*app.App
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
func (v *verification) try(m verified) []app.Finding {
	defer v.Spin(tryingOutText(m.Name))()
	v.version = ""
	executable := v.executable(m)
	if executable.State == app.StateWrong {
		return []app.Finding{executable}
	}
	authentication := v.authentication(m)
	if v.skipDryRun {
		return []app.Finding{executable, authentication}
	}
	answer := v.dryRun(m)
	switch {
	case answer.State != app.StateWrong && authentication.State == app.StateWrong:
		// It has its key from somewhere that its own login does not know of.
		authentication = anyhowText(authentication.What)
	case answer.State != app.StateWrong && authentication.State == app.StateNote:
		authentication = app.Fine(textNothingMissing)
	}
	authentication.Check = checkAuthentication
	return []app.Finding{executable, authentication, answer}
}

// known is what is known of the member's program.
func (m verified) known() agent.Known {
	if known, ok := agent.Recognize(m.Command, m.Args); ok {
		return known
	}
	for _, known := range KnownAgents() {
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

func (v *verification) executable(m verified) (f app.Finding) {
	defer func() { f.Check = checkExecutable }()
	if v.engines[m.EngineName()] == nil {
		return noEngineText(m.EngineName())
	}
	if m.EngineName() == team.EngineDemo || m.EngineName() == team.EngineOpenAI {
		return app.Fine(textNoProgramNeeded)
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
func (v *verification) authentication(m verified) (f app.Finding) {
	defer func() { f.Check = checkAuthentication }()
	if unset := m.Unset(); len(unset) > 0 {
		return unsetText(unset)
	}
	known := m.known()
	if known.LoggedIn == nil {
		return app.Note(textLoginUnknown, "")
	}
	turn := m.turn("")
	turn.Member.Command, turn.Member.Args = cmp.Or(turn.Member.Command, known.Program), known.LoggedIn
	_, err := brief(v.ctx, turn)
	var exit *process.ExitError
	switch {
	case err == nil:
		return app.Fine(textLoggedIn)
	case errors.As(err, &exit):
		return notLoggedInText(known.Login)
	}
	return app.Note(noWordOnLoginText(err), "")
}

// shortQuestion is what an agent is asked, which costs as little as a question can.
const shortQuestion = "Reply with just the word OK."

// saidKept is how many bytes of an answer are shown.
const saidKept = 200

func (v *verification) dryRun(m verified) (f app.Finding) {
	defer func() { f.Check = checkDryRun }()
	ctx, cancel := context.WithTimeoutCause(v.ctx, v.patience, notInTime(v.patience))
	defer cancel()
	began := time.Now()
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
	return answerText(answer[:min(len(answer), saidKept)], time.Now().Sub(began))
}

// notInTime is why an agent is not waited for any longer.
func notInTime(patience time.Duration) error {
	return fmt.Errorf("it did not answer within %s", patience)
}
