package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// demoPace is how fast the demo team speaks to somebody who watches.
const demoPace = 60 * time.Millisecond

type chatCommand struct {
	Team        string     `short:"t" help:"The team: a file, or the name of a configuration." placeholder:"TEAM"`
	Message     texts      `short:"m" help:"Say this and end; may be repeated. Standard input is not read." placeholder:"TEXT"`
	Resume      optionalID `short:"r" help:"Go on with a session, or with the latest." placeholder:"[ID]"`
	Continue    bool       `short:"c" help:"Go on with the latest session."`
	Session     *string    `help:"Go on with this session." placeholder:"ID"`
	SessionFile *string    `help:"Go on with the journal in this file, where it is; or import this snapshot and go on with it." placeholder:"PATH"`
	Fork        bool       `help:"Go on with a copy of the session, and leave it as it is."`
	Follow      bool       `help:"Watch a session, or the latest, and say nothing in it."`
	Plain       bool       `help:"Talk line by line, as it is without a full-screen chat."`
	ShowPrompt  bool       `help:"Show everything that an agent is told, before it answers."`
	NoSave      bool       `help:"Keep nothing on the disk."`
	MaxRounds   int        `help:"End after that many turns of agents; 0 is no limit." placeholder:"N"`
	Input       string     `help:"What lines of standard input are: ${enum}; json takes {\"content\", \"from\"?} lines, for messages of several lines." enum:"text,json" default:"text"`
	Output      string     `help:"What is printed: ${enum}." enum:"text,json" default:"text"`
}

// Help shows examples first.
func (chatCommand) Help() string {
	return `Examples:
  agent-chatter chat
  agent-chatter chat -t team.json -m "hello [NEXT: planner]"
  agent-chatter chat --resume
  agent-chatter chat --resume 7QN3 --follow
  printf 'hello\nand again\n' | agent-chatter chat --output json`
}

// texts is a flag whose value may begin with a dash and hold commas.
type texts []string

// Decode implements kong.MapperValue.
func (t *texts) Decode(ctx *kong.DecodeContext) error {
	token := ctx.Scan.Pop()
	if token.IsEOL() {
		return errors.New("expected a text")
	}
	*t = append(*t, token.String())
	return nil
}

// optionalID is a flag with a value that may be left out.
type optionalID struct {
	set bool
	id  string
}

// Decode implements kong.MapperValue.
func (o *optionalID) Decode(ctx *kong.DecodeContext) error {
	*o = optionalID{set: true}
	token := ctx.Scan.Peek()
	if token.IsEOL() || token.Type != kong.FlagValueToken && strings.HasPrefix(token.String(), "-") {
		return nil
	}
	o.id = ctx.Scan.Pop().String()
	return nil
}

// Run implements the command.
func (cmd *chatCommand) Run(a *app) error {
	if cmd.SessionFile != nil {
		return named(*cmd.SessionFile, cmd.run(a))
	}
	return cmd.run(a)
}

func (cmd *chatCommand) run(a *app) error {
	if cmd.Follow {
		return cmd.follow(a)
	}
	plan, err := cmd.plan(a)
	if err != nil {
		return err
	}
	if plan.config, err = a.config(); err != nil {
		return err
	}
	cmd.warnOfNetwork(a)
	t, closeInput, err := cmd.open(a, plan)
	if err != nil {
		return err
	}
	defer closeInput()
	if err := t.begin(plan); err != nil {
		return err
	}
	return t.run()
}

// warnOfNetwork says that the session may be where other machines write, too.
func (cmd *chatCommand) warnOfNetwork(a *app) {
	dir := a.home
	if cmd.SessionFile != nil && isJournal(*cmd.SessionFile) {
		dir = filepath.Dir(*cmd.SessionFile)
	}
	if kind := a.networkFS(dir); kind != "" && !cmd.NoSave {
		a.notice(networkText(dir, kind))
	}
}

// open connects the conversation with where its lines come from and go to.
func (cmd *chatCommand) open(a *app, p plan) (t *talk, closeInput func(), err error) {
	t = &talk{app: a, scripted: true, noSave: cmd.NoSave}
	if p.config.auto() && !cmd.NoSave {
		t.tidying = a.newTidying(p.config.policy())
	}
	if cmd.SessionFile != nil && isJournal(*cmd.SessionFile) {
		if t.sessionFile, err = filepath.Abs(*cmd.SessionFile); err != nil {
			return nil, nil, err
		}
	}
	closeInput = func() {}
	var width func() int
	var ask func(context.Context, team.Member, agent.Permission) bool
	switch {
	case len(cmd.Message) > 0:
		t.input = &messages{cmd.Message}
	case a.isTerminal():
		c, err := openConsole(a.stdin, a.stdout)
		if err != nil {
			return nil, nil, err
		}
		t.input, t.scripted, closeInput = c, false, a.enter(c)
		width, ask = c.width, t.asker(c)
	default:
		t.input = newPipe(a.stdin, cmd.Input == "json", a.lineLimit())
	}
	t.screen = &screen{
		app: a, team: p.team, json: cmd.Output == "json",
		terminal: !t.scripted, prompts: cmd.ShowPrompt, spinner: &spinner{out: a.stdout, width: width}, wrap: wrapped{width: width},
	}
	demo := agent.Demo{}
	if !t.scripted {
		demo.Pace = demoPace
	}
	t.connect = func(store store.Store) *coordinator.Coordinator {
		return coordinator.New(coordinator.Options{
			Store: store, Events: t.screen, App: a.identity(), CWD: a.cwd, MaxRounds: cmd.MaxRounds, Window: coordinator.Window(p.config.Window),
			Engines: engines(demo), KeepSecrets: p.config.keepSecrets(), Ask: ask,
		})
	}
	return t, closeInput, nil
}

// engines are what members can name.
func engines(demo agent.Demo) map[string]agent.Engine {
	return map[string]agent.Engine{
		team.EngineDemo:    demo,
		team.EngineCommand: agent.Command{},
		team.EngineClaude:  agent.Claude(),
		team.EngineCodex:   agent.Codex(),
		team.EngineGemini:  agent.Gemini(),
		team.EngineOpenAI:  agent.OpenAI{},
		team.EngineACP:     &agent.ACP{},
	}
}

// enter makes everything that is printed fit a terminal in raw mode, until the
// returned function is called.
func (a *app) enter(c *console) (leave func()) {
	stdout, stderr := a.stdout, a.stderr
	a.stdout = c
	if f, ok := stderr.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		a.stderr = c
	}
	return func() {
		c.Close()
		a.stdout, a.stderr = stdout, stderr
	}
}

// isTerminal reports whether a person sits in front of both ends.
func (a *app) isTerminal() bool {
	out, ok := a.stdout.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(a.stdin.Fd())) && term.IsTerminal(int(out.Fd()))
}

// lastMessages is how many messages a resumed chat shows.
const lastMessages = 6

// lastOf is what a person sees again of the newest messages of a session.
func lastOf(recent []projection.Entry) []projection.Entry {
	return recent[max(0, len(recent)-lastMessages):]
}
