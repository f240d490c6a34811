package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/guide"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/browse"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/completion"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/doctor"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/hubs"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/maintain"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
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

// commandLine is what kong parses.
type commandLine struct {
	Home     string      `help:"Data directory (default: ~/.agent-chatter)." env:"AGENT_CHATTER_HOME" default:"~/.agent-chatter" placeholder:"DIR"`
	JSON     bool        `name:"json" help:"Print JSON lines, as --output json does."`
	NoColor  bool        `help:"Print without colour, as when NO_COLOR is set."`
	LogLevel *string     `help:"Print log records from this level: ${enum}." enum:"debug,info,warn,error" placeholder:"LEVEL"`
	LogFile  string      `help:"Append the log records to this file instead." placeholder:"PATH"`
	HubURL   string      `name:"hub" help:"Servers of the hub (default: hub.urls of config.json)." placeholder:"URL"`
	Offline  bool        `help:"Use only the sessions that are here."`
	Version  versionFlag `help:"Print the version."`

	Chat     chat.Command     `cmd:"" help:"Chat with a team of agents."`
	Browse   browse.Command   `cmd:"" help:"Browse and search sessions, full screen."`
	Serve    serve.Command    `cmd:"" help:"Show sessions in a web browser."`
	ACP      acp.Command      `cmd:"" name:"acp" help:"Let an editor chat with a team (ACP)."`
	MCP      mcp.Command      `cmd:"" name:"mcp" help:"Let agents search and read sessions (MCP)."`
	Replay   sessions.Replay  `cmd:"" help:"Print the conversation of a session."`
	Tail     sessions.Tail    `cmd:"" help:"Print the last events of a session."`
	Compact  maintain.Compact `cmd:"" help:"Write checkpoints and archive old sessions."`
	Verify   maintain.Verify  `cmd:"" help:"Check every line of the journals."`
	Repair   maintain.Repair  `cmd:"" help:"Set aside the damaged lines of a session."`
	Sessions sessionsCommand  `cmd:"" help:"List, search and manage sessions."`
	Hub      hubs.Command     `cmd:"" help:"Share sessions with other machines."`
	Identity hubs.Identities  `cmd:"" name:"identities" help:"Manage the keys of sealed sessions."`
	Doctor   doctor.Doctor    `cmd:"" help:"Check storage, configuration and agents."`
	Team     setup.Team       `cmd:"" help:"Create, list and check team configurations."`
	Agents   agents.Command   `cmd:"" help:"Find, register and verify agents."`

	Guide      guide.Command       `cmd:"" help:"Print a page of the manual."`
	Completion completion.Command  `cmd:"" help:"Print shell completions."`
	Complete   completion.Complete `cmd:"" name:"__complete" hidden:"" help:"Print the completions of a word."`
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

// errPrinted ends the parsing of a command line with --help or --version.
var errPrinted = errors.New("help or version is printed")

type versionFlag bool

// BeforeReset prints the version.
func (versionFlag) BeforeReset(parser *kong.Kong) error {
	fmt.Fprintln(parser.Stdout, app.Version)
	return errPrinted
}

func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, ctx); err != nil {
		return err
	}
	return errPrinted
}

// Run executes a command line and returns the exit code.
func Run(args []string, streams app.IO) int {
	c := commandLine{Browse: browse.Command{Resume: chat.Resume}}
	parser := kong.Must(&c, append(usage.Decoders(),
		kong.Name("agent-chatter"),
		kong.Description("Chat with AI agents in crash-safe sessions."),
		kong.Writers(streams.Stdout, streams.Stderr),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)...)
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
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
	streams.NoColor = c.NoColor || os.Getenv("NO_COLOR") != ""
	a, err := app.New(streams, app.Options{
		Home: c.Home, LogLevel: c.LogLevel, LogFile: c.LogFile, Hub: c.HubURL, Offline: c.Offline,
	})
	if err != nil {
		fmt.Fprintln(streams.Stderr, app.Explain(err).Text)
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
