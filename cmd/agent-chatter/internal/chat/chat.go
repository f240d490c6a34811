package chat

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/alecthomas/kong"
)

// demoPace is how fast the demo team speaks to somebody who watches.
const demoPace = 60 * time.Millisecond

type Command struct {
	Team        string     `short:"t" help:"The team: a file, or the name of a configuration." placeholder:"TEAM"`
	Message     texts      `short:"m" help:"Say this and end; may be repeated. Standard input is not read." placeholder:"TEXT"`
	Resume      OptionalID `short:"r" help:"Go on with a session, or with the latest." placeholder:"[ID]"`
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
func (Command) Help() string {
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
type OptionalID struct {
	set bool
	id  string
}

// Decode implements kong.MapperValue.
func (o *OptionalID) Decode(ctx *kong.DecodeContext) error {
	*o = OptionalID{set: true}
	token := ctx.Scan.Peek()
	if token.IsEOL() || token.Type != kong.FlagValueToken && strings.HasPrefix(token.String(), "-") {
		return nil
	}
	o.id = ctx.Scan.Pop().String()
	return nil
}

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	if cmd.SessionFile != nil {
		return app.WithName(*cmd.SessionFile, cmd.run(a))
	}
	return cmd.run(a)
}

func (cmd *Command) run(a *app.App) error {
	if cmd.Follow {
		return cmd.follow(a)
	}
	plan, err := cmd.plan(a)
	if err != nil {
		return err
	}
	if plan.config, err = a.Config(); err != nil {
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
func (cmd *Command) warnOfNetwork(a *app.App) {
	dir := a.Home
	if cmd.SessionFile != nil && app.IsJournal(*cmd.SessionFile) {
		dir = filepath.Dir(*cmd.SessionFile)
	}
	if kind := a.NetworkFS(dir); kind != "" && !cmd.NoSave {
		a.Notice(networkText(dir, kind))
	}
}

// open connects the conversation with where its lines come from and go to.
func (cmd *Command) open(a *app.App, p plan) (t *talk, closeInput func(), err error) {
	t = &talk{app: a, scripted: true, noSave: cmd.NoSave}
	if p.config.Auto() && !cmd.NoSave {
		t.tidying = newTidying(a, p.config.Policy())
	}
	if cmd.SessionFile != nil && app.IsJournal(*cmd.SessionFile) {
		if t.sessionFile, err = filepath.Abs(*cmd.SessionFile); err != nil {
			return nil, nil, err
		}
	}
	closeInput = func() {}
	var width func() int
	var ask func(context.Context, coordinator.Question) coordinator.Answer
	switch {
	case len(cmd.Message) > 0:
		t.input = &messages{cmd.Message}
	case a.IsTerminal():
		c, err := tty.OpenConsole(a.Stdin, a.Stdout)
		if err != nil {
			return nil, nil, err
		}
		t.input, t.scripted = c, false
		closeInput = func() { c.Close() }
		width, ask = c.Width, askOn(c)
		a.Slash = slashForm
		a.HideArchiving()
	default:
		t.input = newPipe(a.Stdin, cmd.Input == "json", a.LineLimit())
	}
	t.screen = &view.Screen{
		App: a, Team: p.team, JSON: cmd.Output == "json",
		Terminal: !t.scripted, Prompts: cmd.ShowPrompt, Asker: ask, Spinner: &tty.Spinner{Out: a.Stdout, Width: width}, Wrap: tty.Wrapper{Width: width},
	}
	demo := agent.Demo{}
	if !t.scripted {
		demo.Pace = demoPace
	}
	t.connect = func(store store.Store) *coordinator.Coordinator {
		return coordinator.New(coordinator.Options{
			Store: store, Listener: t.screen, App: a.Identity(), CWD: a.Cwd, MaxRounds: cmd.MaxRounds, Window: coordinator.Window(p.config.Window),
			Engines: app.Engines(demo), KeepSecrets: p.config.KeepSecrets(),
		})
	}
	return t, closeInput, nil
}

// lastMessages is how many messages a resumed chat shows.
const lastMessages = 6

// lastOf is what a person sees again of the newest messages of a session.
func lastOf(recent []projection.Entry) []projection.Entry {
	return recent[max(0, len(recent)-lastMessages):]
}

func networkText(dir, kind string) string {
	f := app.NetworkText(dir, kind)
	return "⚠️  " + f.What + ".\n" + f.Help
}
