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
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/alecthomas/kong"
)

// demoPace is the pause between the words of the demo team on a terminal.
const demoPace = 60 * time.Millisecond

// Command is the chat command.
type Command struct {
	Team        string     `short:"t" help:"The team: a file or a configuration name (default: demo)." placeholder:"TEAM"`
	Message     texts      `short:"m" help:"Send this message and exit; may be repeated." placeholder:"TEXT"`
	Resume      OptionalID `short:"r" help:"Resume a session (default: latest)." placeholder:"[ID]"`
	Continue    bool       `short:"c" help:"Resume the latest session."`
	Session     *string    `help:"Resume this session." placeholder:"ID"`
	SessionFile *string    `help:"Resume a journal in place, or import a snapshot." placeholder:"PATH"`
	Fork        bool       `help:"Resume a copy of the session."`
	Follow      bool       `help:"Watch a session (default: latest), read-only."`
	Plain       bool       `help:"Chat line by line, without a full-screen display."`
	ShowPrompt  bool       `help:"Show each agent's prompt before its reply."`
	NoSave      bool       `help:"Keep nothing on disk."`
	MaxRounds   int        `help:"End after this many agent turns (default: 0, unlimited)." placeholder:"N"`
	Input       string     `help:"Format of input lines: ${enum}; json is {\"content\", \"from\"?}." enum:"text,json" default:"text"`
	Output      string     `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter chat
  agent-chatter chat -t team.json -m "hello [NEXT: planner]"
  agent-chatter chat --resume
  agent-chatter chat --resume 7QN3 --follow
  printf 'hello\nand again\n' | agent-chatter chat --output json`
}

// texts is a repeatable flag whose values may start with a dash and contain commas.
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

// OptionalID is a flag whose value, the name of a session, may be omitted. The zero
// OptionalID is an unset flag.
type OptionalID struct {
	set bool
	id  string // "" if omitted
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

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Command) Writes() bool { return !cmd.NoSave && !cmd.Follow }

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	if cmd.SessionFile != nil {
		return app.WithName(*cmd.SessionFile, cmd.run(a))
	}
	return cmd.run(a)
}

func (cmd *Command) run(a *app.App) error {
	if err := cmd.check(); err != nil {
		return err
	}
	if cmd.Follow {
		return cmd.follow(a)
	}
	ctx, stop := app.UntilSignal()
	defer stop()
	config, err := a.Config()
	if err != nil {
		return err
	}
	cmd.warnOfNetwork(a)
	r, err := cmd.newREPL(a, config)
	if err != nil {
		return err
	}
	defer func() { r.closeInput() }()
	if err := cmd.start(ctx, r); err != nil {
		return err
	}
	return r.run(ctx)
}

// check rejects flags that conflict.
func (cmd *Command) check() error {
	named := 0
	for _, set := range []bool{cmd.Resume.id != "", cmd.Session != nil, cmd.SessionFile != nil} {
		if set {
			named++
		}
	}
	switch {
	case named > 1 || named == 1 && cmd.Continue:
		return app.UsageError("Specify only one session to resume.")
	case cmd.NoSave && (cmd.resumes() || cmd.SessionFile != nil):
		return app.UsageError("%s", textNoSaveNoResume)
	case cmd.Fork && (!cmd.resumes() || cmd.SessionFile != nil):
		return app.UsageError("--fork resumes a copy of a session: name the session with --resume ID.")
	case cmd.Session != nil && *cmd.Session == "" || cmd.SessionFile != nil && *cmd.SessionFile == "":
		return app.UsageError("The name of the session is empty. --resume alone resumes the latest.")
	case cmd.Follow && (len(cmd.Message) > 0 || cmd.Fork || cmd.NoSave || cmd.MaxRounds != 0 || cmd.ShowPrompt):
		return app.UsageError(
			"--follow is read-only: it excludes -m, --fork, --no-save, --max-rounds and --show-prompt.",
		)
	case cmd.MaxRounds < 0:
		return app.UsageError("--max-rounds takes a number of turns, 0 for no limit.")
	}
	return nil
}

const textNoSaveNoResume = "--no-save keeps nothing on disk, so it excludes --resume."

// resumes reports whether a flag other than --session-file asks to resume a session.
func (cmd *Command) resumes() bool {
	return cmd.Resume.set || cmd.Continue || cmd.Session != nil
}

// name returns the name of the session to resume; "" is the latest.
func (cmd *Command) name() string {
	if cmd.Session != nil {
		return *cmd.Session
	}
	return cmd.Resume.id
}

// warnOfNetwork warns if the session is on a network file system.
func (cmd *Command) warnOfNetwork(a *app.App) {
	dir := a.Home
	if cmd.SessionFile != nil && app.IsJournal(*cmd.SessionFile) {
		dir = filepath.Dir(*cmd.SessionFile)
	}
	if kind := a.NetworkFS(dir); kind != "" && !cmd.NoSave {
		a.Notice(networkText(dir, kind))
	}
}

func networkText(dir, kind string) string {
	f := app.NetworkText(dir, kind)
	return "⚠️  " + f.What + ".\n" + f.Help
}

// newREPL returns a repl without a conversation. Its input is opened by begin.
func (cmd *Command) newREPL(a *app.App, config app.Config) (*repl, error) {
	r := &repl{app: a, noSave: cmd.NoSave, closeInput: func() {}}
	switch {
	case len(cmd.Message) > 0:
		r.scripted, r.input = true, &messages{cmd.Message}
	case !a.IsTerminal():
		r.scripted, r.input = true, newPipe(a.Stdin, cmd.Input == "json", a.LineLimit())
	}
	if config.Auto() && !cmd.NoSave {
		r.retention = newRetention(a, config.Policy())
	}
	if cmd.SessionFile != nil && app.IsJournal(*cmd.SessionFile) {
		var err error
		if r.sessionFile, err = filepath.Abs(*cmd.SessionFile); err != nil {
			return nil, err
		}
	}
	r.screen = &view.Screen{
		App: a, JSON: cmd.Output == "json", Terminal: !r.scripted, Prompts: cmd.ShowPrompt,
		Spinner: &tty.Spinner{Out: a.Stdout},
	}
	demo := agent.Demo{}
	if !r.scripted {
		demo.Pace = demoPace
	}
	var listener coordinator.Listener = r.screen
	if cmd.Writes() {
		listener = &logged{Listener: r.screen, log: a.Log}
	}
	guard := new(process.Guard)
	r.connect = func(s store.Store) *coordinator.Coordinator {
		return coordinator.New(coordinator.Options{
			Store: s, Listener: listener, App: a.Identity(), CWD: a.Cwd, MaxRounds: cmd.MaxRounds,
			Window: coordinator.Window(config.Window), Engines: app.Engines(demo), KeepSecrets: config.KeepSecrets(),
			Guard: guard,
		})
	}
	return r, nil
}

// openTerminal puts the terminal into raw mode and reads lines from it.
func (r *repl) openTerminal() error {
	c, err := tty.OpenConsole(r.app.Stdin, r.app.Stdout)
	if err != nil {
		return err
	}
	r.input = c
	r.closeInput = func() { c.Close() }
	r.screen.Spinner.Width, r.screen.Wrap.Width = c.Width, c.Width
	r.screen.Asker = func(ctx context.Context, q coordinator.Question) coordinator.Answer {
		if c.Ask(ctx, permissionText(q.Member.DisplayName, q.Permission)) {
			return coordinator.Allowed
		}
		return coordinator.Refused
	}
	return nil
}
