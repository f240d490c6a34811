package chat

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/console"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/host"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/keys"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/usage"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// demoPace is the pause between the words of the demo team on a terminal.
const demoPace = 60 * time.Millisecond

// Command is the chat command.
type Command struct {
	Team        string             `short:"t" help:"The team: a file or a configuration name (default: demo)." placeholder:"TEAM"`
	Message     usage.Texts        `short:"m" help:"Send this message and exit; may be repeated." placeholder:"TEXT"`
	Resume      usage.OptionalID   `short:"r" help:"Resume a session (default: latest)." placeholder:"[ID]"`
	Continue    usage.OptionalID   `short:"c" help:"Same as --resume." placeholder:"[ID]"`
	Session     *string            `help:"Resume this session." placeholder:"ID"`
	SessionFile *string            `help:"Resume a journal in place, or import another file." placeholder:"PATH"`
	Pick        bool               `help:"With --resume: choose the session in the browser."`
	Fork        bool               `help:"Resume a copy of the session."`
	At          string             `help:"With --fork: last event to copy: number, time or turn:N." placeholder:"X"`
	Files       bool               `help:"With --at: set the files back, too."`
	TakeOver    bool               `help:"With --resume: end the claim of another machine."`
	Serve       usage.OptionalText `help:"Open the web page of the chat (default: for this machine)." placeholder:"[ADDR]"`
	Follow      bool               `help:"Watch a session (default: latest), read-only."`
	Plain       bool               `help:"Chat line by line, without cursor movement and colour."`
	ShowPrompt  bool               `help:"Show each agent's prompt before its reply."`
	NoSave      bool               `help:"Keep nothing on disk."`
	NoAutoSave  bool               `help:"Keep the session in memory until /save or the end."`
	Model       usage.Texts        `help:"Use this model, or with MEMBER=M for one member; may be repeated." placeholder:"M"`
	Panel       string             `help:"With -m: these agents answer at the same time." placeholder:"A,B"`
	MaxRounds   int                `help:"End after this many agent turns (default: 0, unlimited)." placeholder:"N"`
	Budget      usage.Texts        `help:"Limit of this run (0: none); may be repeated." placeholder:"session.cost=5"`
	Input       string             `help:"Format of input lines: ${enum}; json is {\"content\", \"from\"?}." enum:"text,json" default:"text"`
	Output      string             `help:"Output format: ${enum}." enum:"text,json" default:"text"`

	chosen catalog.Key // the session that was chosen in the browser; zero: the flags name one
	host   *Host       // of a conversation without a terminal; nil: there is none
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter chat
  agent-chatter chat -t team.json -m "hello [NEXT: planner]"
  agent-chatter chat --resume
  agent-chatter chat --resume --pick
  agent-chatter chat --resume 7QN3 --fork --at turn:2
  agent-chatter chat --resume 7QN3 --follow
  printf 'hello\nand again\n' | agent-chatter chat --output json`
}

// Writes reports whether the command writes to the home, so that its failure is logged there.
func (cmd *Command) Writes() bool { return !cmd.NoSave && !cmd.Follow }

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	if err := cmd.check(); err != nil {
		return err
	}
	if cmd.Serve.Set && !a.IsTerminal() {
		return app.Exit(app.ExitUsage, noPageText())
	}
	if cmd.Pick {
		if chosen, err := cmd.pick(a); err != nil || !chosen {
			return err
		}
	}
	if cmd.Follow {
		err := cmd.follow(a)
		if cmd.SessionFile != nil {
			err = app.WithName(*cmd.SessionFile, err)
		}
		return err
	}
	config, err := a.Config()
	if err != nil {
		return err
	}
	if !cmd.NoSave {
		host.WarnUnsafePlace(a, cmd.SessionFile)
	}
	r := cmd.newREPL(a, config)
	var interrupt func() bool
	if plain, ok := r.input.(*plainLines); ok {
		interrupt = func() bool { return plain.Interrupt(time.Now()) }
	}
	ctx, stop := console.UntilSignal(&r.lent, interrupt)
	defer stop()
	defer func() { _ = r.closeOutput(ctx) }() // the terminal may have gone away
	err = cmd.start(ctx, r)
	if err != nil && !cmd.TakeOver && !cmd.Fork {
		err = r.attach(ctx, err)
		if r.attached {
			return err
		}
	}
	if err == nil {
		err = cmd.checkPanel(r.c.Team())
	}
	if err == nil && cmd.Serve.Set {
		err = r.servePage(cmp.Or(cmd.Serve.Text, anyPort))
	}
	if err == nil {
		err = r.run(ctx)
	}
	r.closePage()
	if app.CodeOf(err) == app.ExitInterrupted {
		stop() // a terminal that takes no output is not waited for
	}
	if cmd.SessionFile != nil && r.sessionFile != "" {
		err = app.WithName(*cmd.SessionFile, err)
	}
	return err
}

// check rejects flags that conflict.
func (cmd *Command) check() error {
	saves := cmd.NoSave || cmd.NoAutoSave
	switch {
	case cmd.NoSave && (cmd.resumes() || cmd.SessionFile != nil):
		return app.UsageError("%s", textNoSaveNoResume)
	case cmd.NoSave && cmd.NoAutoSave:
		return app.UsageError("--no-save keeps nothing on disk, so it excludes --no-auto-save.")
	case cmd.Fork && (!cmd.resumes() || cmd.SessionFile != nil):
		return app.UsageError("--fork resumes a copy of a session: name the session with --resume ID.")
	case cmd.Pick && !cmd.Resume.Set && !cmd.Continue.Set:
		return app.UsageError("--pick chooses a session to resume: add --resume.")
	case cmd.Pick && (cmd.Resume.ID != "" || cmd.Continue.ID != "" || cmd.Session != nil || cmd.SessionFile != nil):
		return app.UsageError("--pick chooses the session: it excludes a name.")
	case cmd.TakeOver && (!cmd.resumes() || cmd.Fork || cmd.Follow):
		return app.UsageError("--take-over continues a session: name it with --resume ID.")
	case cmd.At != "" && !cmd.Fork:
		return app.UsageError("--at is the end of a copy: add --fork.")
	case cmd.Files && !cmd.Fork:
		return app.UsageError("--files sets files back to after the last event of a copy: add --fork --at X.")
	case slices.ContainsFunc(cmd.Message, func(text string) bool { return strings.TrimSpace(text) == "" }):
		return app.UsageError("A message of -m is empty.")
	case cmd.Session != nil && *cmd.Session == "" || cmd.SessionFile != nil && *cmd.SessionFile == "":
		return app.UsageError("The name of the session is empty. --resume alone resumes the latest.")
	case cmd.Follow && (len(cmd.Message) > 0 || cmd.Fork || saves || cmd.MaxRounds != 0 || cmd.ShowPrompt ||
		len(cmd.Model) > 0):
		return app.UsageError("--follow is read-only: it excludes -m, --fork, --no-save, --no-auto-save, " +
			"--max-rounds, --model and --show-prompt.")
	case cmd.Panel != "" && (len(cmd.Message) == 0 || len(cmd.panel()) < 2 || cmd.hasCommand()):
		return app.UsageError("%s", textPanel)
	case cmd.Serve.Set && (cmd.NoSave || cmd.Follow || len(cmd.Message) > 0 || cmd.Output == "json"):
		return app.UsageError("--serve opens the page of a chat on a terminal: it excludes --no-save, --follow, -m " +
			"and --output json.")
	case cmd.Serve.Text != "" && !isAddress(cmd.Serve.Text):
		return app.UsageError("--serve takes ADDRESS:PORT, such as 192.168.1.20:8443.")
	case cmd.MaxRounds < 0:
		return app.UsageError("--max-rounds takes a number of turns, 0 for no limit.")
	}
	for _, limit := range cmd.Budget {
		if _, err := team.ParseBound(limit); err != nil {
			return app.UsageError("--budget %s: %s.", tty.SafeLine(limit), tty.SafeLine(err.Error()))
		}
	}
	return nil
}

// bounds returns the limits of --budget, which check has checked.
func (cmd *Command) bounds() (all []team.Bound) {
	for _, limit := range cmd.Budget {
		b, _ := team.ParseBound(limit)
		all = append(all, b)
	}
	return all
}

const textNoSaveNoResume = "--no-save keeps nothing on disk, so it excludes --resume."

// resumes reports whether a flag other than --session-file asks to resume a session.
func (cmd *Command) resumes() bool {
	return cmd.Resume.Set || cmd.Continue.Set || cmd.Session != nil || cmd.chosen != (catalog.Key{})
}

// find finds the session to resume by its name, or the chosen one, and opens it. open may be nil.
func (cmd *Command) find(
	ctx context.Context, a *app.App, t *team.Team, name string, open func(catalog.Session) error,
) (catalog.Session, error) {
	if cmd.chosen == (catalog.Key{}) {
		return a.FindToResume(ctx, t, name, open)
	}
	s, err := fetched(ctx, a, cmd.chosen)
	if err == nil && open != nil {
		err = open(s)
	}
	return s, err
}

// name returns the name of the session to resume; "" is the latest. Several names must be of one session, that of
// --session-file if there is one.
func (cmd *Command) name(ctx context.Context, a *app.App) (string, error) {
	names := []string{cmd.Resume.ID, cmd.Continue.ID}
	if cmd.Session != nil {
		names = append(names, *cmd.Session)
	}
	names = slices.Compact(slices.DeleteFunc(names, func(name string) bool { return name == "" }))
	id := ""
	switch {
	case len(names) == 0:
		return "", nil
	case cmd.SessionFile != nil:
		if app.IsJournal(*cmd.SessionFile) {
			id = strings.TrimSuffix(filepath.Base(*cmd.SessionFile), ".jsonl")
		}
	case len(names) == 1 && cmd.Fork:
		name, at, err := a.CutEvent(ctx, names[0], "at", cmd.At)
		cmd.At = at
		return name, err
	case len(names) == 1:
		return names[0], nil
	}
	for _, name := range names {
		if catalog.MatchesID(id, name) {
			continue
		}
		s, err := a.Find(ctx, name)
		if err != nil {
			return "", err
		}
		if id == "" && cmd.SessionFile == nil {
			id = s.ID
		}
		if s.ID != id {
			return "", app.UsageError("Specify only one session to resume.")
		}
	}
	return id, nil
}

// newREPL returns a repl without a conversation. It is opened by begin.
func (cmd *Command) newREPL(a *app.App, config home.Config) *repl {
	bindings, _ := keys.New(config.Keys) // the configuration was checked
	r := &repl{
		app: a, noSave: cmd.NoSave, manualSave: cmd.NoAutoSave, models: cmd.Model,
		statusFacts: config.Status, notify: config.NotifyWays(), keys: bindings,
		closeOutput: func(context.Context) error { return nil },
	}
	if cmd.Plain {
		a.SetPlain()
	}
	switch {
	case cmd.host != nil:
		r.hosted = true
	case len(cmd.Message) > 0:
		r.scripted, r.input = true, &flagLines{Rest: cmd.messages()}
	case !a.IsTerminal():
		r.scripted, r.input = true, newPipeLines(a.Stdin, cmd.Input == "json", a.LineLimit())
	case a.Plain:
		r.input = newPlainLines(a.Stdin, a.Stdout, a.LineLimit())
	}
	if !cmd.NoSave {
		r.hub = host.NewHub(a, config.Hub, cmd.TakeOver)
	}
	if config.Auto() && !cmd.NoSave {
		r.retention = host.NewRetention(a, config.Policy())
	}
	r.display = &display{repl: r, question: make(chan struct{}, 1), Reporter: &view.Reporter{
		App: a, JSON: cmd.Output == "json", Prompts: cmd.ShowPrompt, ManualSave: cmd.NoAutoSave,
	}}
	if !r.scripted && !cmd.NoSave && cmd.Output == "text" {
		r.share(cmd.host)
	}
	var listener coordinator.Listener = r.display
	worktrees := "" // members of a conversation that is not saved get none
	if cmd.Writes() {
		worktrees = a.Home
		listener = &host.EventLog{Listener: listener, Log: a.Log}
	}
	agents := cmd.agents(a, config, !r.scripted)
	day := spending.NewDay(a, cmd.Writes())
	r.connect = func(s store.Store) *coordinator.Coordinator {
		return coordinator.New(coordinator.Options{
			Store: s, Listener: listener, App: a.Identity(), CWD: a.Cwd, MaxRounds: cmd.MaxRounds,
			Budget: coordinator.Budget{Home: config.Budget, Run: cmd.bounds(), Day: day},
			Window: coordinator.Window(config.Window), Engines: agents.engines, KeepSecrets: config.KeepSecrets(),
			NewMember: setup.MemberMaker(a), Guard: agents.guard, ManualSave: cmd.NoAutoSave,
			Recall: host.RecallServer(a), HomeKey: host.HomeKey(a, cmd.Writes()), Asks: !r.scripted,
			Residents: agents.residents,
			Workspace: host.Workspace(a, config, cmd.Writes()),
			Home:      worktrees,
		})
	}
	return r
}

// agents are what the conversations of a process share of their agents.
type agents struct {
	engines   map[string]agent.Engine
	guard     *process.Guard
	residents *coordinator.Residents
}

// newAgents returns the agents of a process; writes is whether it writes to the home. If someone reads while the demo
// team speaks, it has a pace.
func newAgents(a *app.App, config home.Config, writes, paced bool) *agents {
	all := &agents{agent.Engines(), new(process.Guard), host.Residents(a, config.MaxResident, writes)}
	if paced {
		all.engines[agent.DemoEngine] = agent.Demo{Pace: demoPace}
	}
	return all
}

// agents returns the agents of the process.
func (cmd *Command) agents(a *app.App, config home.Config, paced bool) *agents {
	if cmd.host != nil {
		return cmd.host.agents
	}
	return newAgents(a, config, cmd.Writes(), paced)
}

// open opens where the conversation is shown, and where its input comes from if that is a terminal.
func (r *repl) open() error {
	if r.hosted {
		lines := &hostedLines{run: r.runReadOnly}
		lines.Queue = live.NewQueue(func() { r.showQueue(lines.Queued) }, r.live.Return)
		r.input, r.display.Surface = lines, noSurface{}
		return nil
	}
	if r.input != nil {
		r.display.Surface, r.closeOutput = console.OpenOutput(r.app)
		if p, ok := r.display.Surface.(*console.Printer); ok {
			p.Cancelled = func() bool { return r.turns != nil && r.turns.Err() != nil }
		}
		return nil
	}
	c, err := console.Open(r.app, console.Options{
		ReadOnly: func(line string) bool { return !r.attached && readOnly(line) }, Run: r.runReadOnly,
		Lent: &r.lent, Keys: r.keys,
		Notify: r.notify, Desktop: host.NotifyDesktop, Clipboard: r.pasted.Clipboard,
		Find:   func(ctx context.Context, text string) []string { return r.history().find(ctx, text) },
		Calls:  r.recordedCalls,
		Queue:  func(lines []tty.Line) { r.showQueue(func() []tty.Line { return lines }) },
		Return: r.live.Return,
	})
	if err != nil {
		return err
	}
	listed := func() { c.Change((*console.Model).Listed) }
	c.Change(func(m *console.Model) { m.Sources, m.Pasted = sources(r.app, listed), r.pasted.Path })
	r.input, r.display.Surface, r.display.console, r.closeOutput = c, c, c, c.Close
	return nil
}

// history returns where messages are searched.
func (r *repl) history() history {
	h := history{catalog: r.app.Catalog, cwd: r.app.Cwd}
	if own := r.own.Load(); own != nil {
		h.own = own.ID
	}
	return h
}

// recallEarlier makes Up recall the messages of the other sessions of the directory, too.
func (r *repl) recallEarlier(ctx context.Context, c *console.Console) {
	found := r.history().find(ctx, "")
	slices.Reverse(found)
	c.Change(func(m *console.Model) { m.Editor.RememberEarlier(found) })
}
