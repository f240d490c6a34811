package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/guide"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/completion"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/doctor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/review"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/hubs"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/maintain"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/usage"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// gcPercent is the default of GOGC for this program. Commands keep little of what
// they read: collecting half as often costs 3 MB and saves a tenth to a fifth of the
// time of a replay.
const gcPercent = 200

// memoryLimit is the amount of memory, in bytes, from which on garbage is collected more
// often: nearly nothing that a command keeps is larger, but an agent that floods a chat, or
// a large transcript that is imported, makes much garbage.
const memoryLimit = 150 << 20

// Main runs the program with the command line of this process, and exits.
func Main() {
	if process.Guarded() || tty.Watched() {
		return
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	terminal := term.IsTerminal(int(os.Stdout.Fd()))
	results := &app.Output{File: os.Stdout, Terminal: terminal}
	streams := app.IO{Stdin: os.Stdin, Stdout: results, Stderr: os.Stderr}
	streams.Program, _ = os.Executable() // "" if it is unknown
	code := Run(os.Args[1:], streams)
	// A terminal may be closed at any time; the journal has what it did not show.
	if err := results.Err(); code == app.ExitDone && err != nil && !terminal {
		fmt.Fprintln(os.Stderr, app.Explain(err).Text)
		code = app.ExitFailed
	}
	os.Exit(code)
}

// commandLine is what kong parses before a command.
type commandLine struct {
	Home     string      `help:"Data directory (default: ~/.agent-chatter)." env:"AGENT_CHATTER_HOME" default:"~/.agent-chatter" placeholder:"DIR"`
	JSON     bool        `name:"json" help:"Print JSON lines, as --output json does."`
	NoColor  bool        `help:"Print without colour, as when NO_COLOR is set."`
	LogLevel *string     `help:"Print log records from this level: ${enum}." enum:"debug,info,warn,error" placeholder:"LEVEL"`
	LogFile  string      `help:"Append the log records to this file instead." placeholder:"PATH"`
	HubURL   string      `name:"hub" help:"Servers of the hub (default: hub.urls of config.json)." placeholder:"URL"`
	Offline  bool        `help:"Use only the sessions that are here."`
	Version  versionFlag `help:"Print the version."`
}

// A command is a command of the program, with what kong parses after its name.
type command struct {
	name, help string
	grammar    func() any // a pointer to a new struct
	tags       string     // of kong
}

// commands are all commands, in the order of the help.
var commands = []command{
	{"chat", "Chat with a team of agents.", func() any { return new(chat.Command) }, ""},
	{"browse", "Browse and search sessions, full screen.", func() any {
		return &browse.Command{Resume: chat.Resume}
	}, ""},
	{"serve", "Show sessions in a web browser.", func() any {
		return &serve.Command{NewHost: func(ctx context.Context, a *app.App, dirs []string) (serve.Host, error) {
			return chat.NewHost(ctx, a, dirs)
		}}
	}, ""},
	{"devices", "List and revoke devices of the web page.", func() any { return new(devices.Command) }, ""},
	{"acp", "Let an editor chat with a team (ACP).", func() any { return new(acp.Command) }, ""},
	{"mcp", "Let agents search and read sessions (MCP).", func() any { return new(mcp.Command) }, ""},
	{"replay", "Print the conversation of a session.", func() any { return new(sessions.Replay) }, ""},
	{"tail", "Print the last events of a session.", func() any { return new(sessions.Tail) }, ""},
	{"compact", "Write checkpoints and archive old sessions.", func() any { return new(maintain.Compact) }, ""},
	{"verify", "Check every line of the journals.", func() any { return new(maintain.Verify) }, ""},
	{"repair", "Set aside the damaged lines of a session.", func() any { return new(maintain.Repair) }, ""},
	{"sessions", "List, search and manage sessions.", func() any { return new(sessionsCommand) }, ""},
	{"files", "Show what turns changed in files.", func() any { return new(filesCommand) }, ""},
	{"usage", "Show used tokens and cost.", func() any { return new(spending.Command) }, ""},
	{"hub", "Share sessions with other machines.", func() any { return new(hubs.Command) }, ""},
	{"identities", "Manage the keys of sealed sessions.", func() any { return new(hubs.Identities) }, ""},
	{"doctor", "Check storage, configuration and agents.", func() any { return new(doctor.Doctor) }, ""},
	{"team", "Create, list and check team configurations.", func() any { return new(setup.Team) }, ""},
	{"agents", "Find, register and verify agents.", func() any { return new(agents.Command) }, ""},
	{"guide", "Print a page of the manual.", func() any { return new(guide.Command) }, ""},
	{"completion", "Print shell completions.", func() any { return new(completion.Command) }, ""},
	{"__complete", "Print the completions of a word.", func() any { return new(completion.Complete) }, `hidden:""`},
}

type sessionsCommand struct {
	List    sessions.List    `cmd:"" aliases:"ls" default:"withargs" help:"List sessions, newest first."`
	Search  sessions.Search  `cmd:"" help:"Search the messages of all sessions."`
	Show    sessions.Show    `cmd:"" help:"Show the details of a session."`
	Rename  sessions.Rename  `cmd:"" aliases:"mv" help:"Set the title of a session."`
	Pin     sessions.Pin     `cmd:"" help:"Protect a session from archiving and deletion."`
	Unpin   sessions.Unpin   `cmd:"" help:"Remove the pin of a session."`
	Delete  sessions.Delete  `cmd:"" aliases:"rm" help:"Move a session to the trash."`
	Restore maintain.Restore `cmd:"" help:"Restore a session from the trash."`
	Fork    sessions.Fork    `cmd:"" help:"Copy a session."`
	Diff    sessions.Diff    `cmd:"" help:"Compare two sessions."`
	Merge   sessions.Merge   `cmd:"" help:"Merge two diverged sessions."`
	Clean   maintain.Clean   `cmd:"" help:"Trash idle sessions and purge old trash."`
	Export  transfer.Export  `cmd:"" help:"Export sessions to files."`
	Import  transfer.Import  `cmd:"" help:"Import sessions from files."`
	Reindex maintain.Reindex `cmd:"" help:"Rebuild the index and checkpoints."`
}

// Help shows examples first.
func (sessionsCommand) Help() string {
	return `Examples:
  agent-chatter sessions
  agent-chatter sessions search 'segmentation fault'
  agent-chatter sessions export latest --format md`
}

type filesCommand struct {
	filechanges.Command
	Review review.Command `cmd:"" help:"Review changes, full screen."`
}

// errPrinted ends the parsing of a command line with --help or --version.
var errPrinted = errors.New("help or version is printed")

type versionFlag bool

// BeforeReset prints the version.
func (versionFlag) BeforeReset(parser *kong.Kong, line *kong.Context) error {
	if !given(line, "json") {
		fmt.Fprintln(parser.Stdout, app.VersionText(app.ThisBuild()))
	} else if err := app.WriteJSON(parser.Stdout, app.ThisBuild()); err != nil {
		return err
	}
	return errPrinted
}

// given reports whether the command line has a flag. A variable of the environment does not count.
func given(line *kong.Context, flag string) bool {
	return slices.ContainsFunc(line.Path, func(p *kong.Path) bool { return p.Flag != nil && p.Flag.Name == flag })
}

// printHelp prints the help of a command, without --json if it does not have it. That of the program names what people
// do most.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	node := ctx.Selected()
	if node == nil {
		fmt.Fprint(ctx.Stdout, textHelp)
		return errPrinted
	}
	if !usage.PrintsJSON(node) {
		for _, f := range ctx.Flags() {
			f.Hidden = f.Hidden || f.Name == "json"
		}
	}
	return printAll(options, ctx)
}

// printAll prints all commands, or all of the help of one.
func printAll(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	return errPrinted
}

// textHelp is what the program prints without arguments and with --help.
const textHelp = `Chat with AI agents in crash-safe sessions.

  agent-chatter chat               chat with a team of agents
  agent-chatter chat --resume      continue the newest session
  agent-chatter team init          create a team of the installed agents
  agent-chatter agents scan        find the installed agents

  agent-chatter browse             browse and search sessions, full screen
  agent-chatter serve --chat       browse and chat in a web browser
  agent-chatter sessions           list the sessions
  agent-chatter sessions search    search their messages
  agent-chatter replay latest      print the newest conversation
  agent-chatter files              show what agents changed in files
  agent-chatter usage              show used tokens and cost

  agent-chatter sessions export    write sessions to files
  agent-chatter sessions import    read sessions, also of other programs
  agent-chatter doctor             check storage, configuration and agents

To see what a command can do, add --help: agent-chatter chat --help
To list all commands, type: agent-chatter --help --all
To read the manual or find words in it, type: agent-chatter guide [WORDS]
`

// newParser returns a parser of some commands. To build that of all takes longer than most of them run.
func newParser(c *commandLine, some []command, streams app.IO, more ...kong.Option) *kong.Kong {
	options := append(usage.Decoders(),
		kong.Name("agent-chatter"),
		kong.Description("Chat with AI agents in crash-safe sessions."),
		kong.Writers(streams.Stdout, streams.Stderr),
		kong.Help(printHelp),
		transfer.Vars(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Bind(usage.Grammar(func() *kong.Node {
			return newParser(new(commandLine), commands, app.IO{Stdout: io.Discard, Stderr: io.Discard}).Model.Node
		})),
	)
	for _, cmd := range some {
		options = append(options, kong.DynamicCommand(cmd.name, cmd.help, "", cmd.grammar(), cmd.tags))
	}
	return kong.Must(c, append(options, more...)...)
}

// asksForAll reports whether a command line is --help --all. --all is no flag of the program, since it is one of
// commands.
func asksForAll(args []string) bool {
	return len(args) == 2 && slices.Contains(args, "--all") &&
		(slices.Contains(args, "--help") || slices.Contains(args, "-h"))
}

// parse parses a command line. Only a command that is named by an argument can be selected, so it first tries without
// the others. For completions it needs them all, and for help and for the message about a mistake.
func parse(c *commandLine, args []string, streams app.IO) (*kong.Context, error) {
	unnamed := func(cmd command) bool { return !slices.Contains(args, cmd.name) }
	named := slices.DeleteFunc(slices.Clone(commands), unnamed)
	if asksForAll(args) {
		return newParser(c, commands, streams, kong.Help(printAll)).Parse([]string{"--help"})
	}
	if len(named) > 0 && !slices.Contains(args, "__complete") {
		quiet := app.IO{Stdout: io.Discard, Stderr: io.Discard}
		if command, err := newParser(c, named, quiet).Parse(args); err == nil {
			return command, nil
		}
		*c = commandLine{}
	}
	return newParser(c, commands, streams).Parse(args)
}

const textEmptyHome = "--home needs a directory; it is empty.\nLeave it out for ~/.agent-chatter."

// Run executes a command line and returns the exit code.
func Run(args []string, streams app.IO) int {
	switch {
	case len(args) == 0:
		fmt.Fprint(streams.Stdout, textHelp)
		return app.ExitDone
	case len(args) == 1 && args[0] == "--version":
		fmt.Fprintln(streams.Stdout, app.VersionText(app.ThisBuild()))
		return app.ExitDone
	}
	var c commandLine
	command, err := parse(&c, args, streams)
	var output *app.OutputError
	switch {
	case errors.As(err, &output):
		fmt.Fprintln(streams.Stderr, app.Explain(output).Text)
		return app.ExitFailed
	case errors.Is(err, errPrinted):
		return app.ExitDone
	case err != nil:
		fmt.Fprintln(streams.Stderr, usage.Explain(err, args))
		return app.ExitUsage
	}
	if c.Home == "" && given(command, "home") {
		fmt.Fprintln(streams.Stderr, textEmptyHome)
		return app.ExitUsage
	}
	streams.NoColor = c.NoColor || os.Getenv("NO_COLOR") != ""
	a, err := app.New(streams, app.Options{
		Home: c.Home, LogLevel: c.LogLevel, LogFile: c.LogFile, Hub: c.HubURL, Offline: c.Offline,
	})
	if err != nil {
		fmt.Fprintln(streams.Stderr, app.Explain(err))
		return app.CodeOf(err)
	}
	if c.JSON {
		err = usage.SetJSON(command.Selected())
	}
	if err == nil {
		err = command.Run(a)
	}
	code := a.Fail(usage.WithHelp(err, command.Selected(), args))
	writer, ok := command.Selected().Target.Addr().Interface().(interface{ Writes() bool })
	if ok && writer.Writes() {
		a.LogFailure(command.Command(), code)
	}
	return code
}
