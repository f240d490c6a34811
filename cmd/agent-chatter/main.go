package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"reflect"
	"regexp"
	"runtime/debug"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/guide"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/completion"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/maintain"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/sessions"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/setup"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/transfer"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// parseText is what is wrong with a command line.
func parseText(err error) string {
	return noValue.ReplaceAllString(app.Sentence(err), "a value is missing")
}

// noValue is how the parser calls the end of the line.
var noValue = regexp.MustCompile(`expected \w+ value but got "EOL" \(<EOL>\)$`)

// noDirectoryHereText says that the working directory is gone.
func noDirectoryHereText(err error) string {
	return "The directory that you are in cannot be found any more: " + tty.SafeLine(err.Error()) + "\nTo go to another, type: cd"
}

// gcPercent is how much garbage there may be beside what is held, in hundredths of
// that. Commands hold little of what they read: to collect it half as often takes
// 3 MB, and a tenth to a fifth of the time of a replay.
const gcPercent = 200

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	results := &results{file: os.Stdout}
	watched := term.IsTerminal(int(os.Stdout.Fd())) // and may go away: what ends then is in the journal
	code := run(os.Args[1:], &app.Env{Stdin: os.Stdin, Stdout: results, Stderr: os.Stderr, NetworkFS: journal.NetworkFS})
	if code == app.ExitDone && results.err != nil && !watched {
		fmt.Fprintln(os.Stderr, app.Explain(results.err))
		code = app.ExitFailed
	}
	os.Exit(code)
}

// results is standard output. Whoever printed, a result that did not arrive is a
// failure.
type results struct {
	file *os.File
	err  error // the first
}

// Fd is that of standard output, which may be a terminal.
func (r *results) Fd() uintptr { return r.file.Fd() }

func (r *results) Write(p []byte) (int, error) {
	n, err := r.file.Write(p)
	if err != nil {
		err = &app.OutputError{Err: fmt.Errorf("standard output: %w", err)}
	}
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// cli is the command line.
type cli struct {
	Home     string           `help:"Where sessions, teams and the configuration lie." env:"AGENT_CHATTER_HOME" default:"~/.agent-chatter" placeholder:"DIR"`
	NoColor  bool             `help:"Print without colour (also: NO_COLOR set to anything)."`
	LogLevel string           `help:"How much is logged to standard error: ${enum}." enum:"debug,info,warn,error" default:"warn"`
	Version  kong.VersionFlag `help:"Print the version."`

	Chat     chat.Command     `cmd:"" help:"Talk with a team of agents, or go on with an earlier session."`
	Replay   sessions.Replay  `cmd:"" help:"Show a conversation again, from its journal alone."`
	Tail     sessions.Tail    `cmd:"" help:"Show the last events of a session, and with -f those to come."`
	Compact  maintain.Compact `cmd:"" help:"Write checkpoints and archive old sessions."`
	Verify   maintain.Verify  `cmd:"" help:"Check every line of the journals."`
	Repair   maintain.Repair  `cmd:"" help:"Make a damaged session usable again, setting aside what does not check."`
	Sessions sessionsCommand  `cmd:"" help:"List, show and delete sessions."`
	Doctor   maintain.Doctor  `cmd:"" help:"Check where sessions are kept, and say what is wrong and what helps."`
	Team     setup.Team       `cmd:"" help:"Make, list and check team configurations."`
	Agents   setup.Agents     `cmd:"" help:"Find, register and try out the agents that all teams can use."`

	Guide      guide.Command       `cmd:"" help:"Print a page of the manual, or list its topics."`
	Completion completion.Command  `cmd:"" help:"Print what makes a shell complete commands, sessions and teams."`
	Complete   completion.Complete `cmd:"" name:"__complete" hidden:"" help:"Print what a word can become."`
}

// run executes one command line and returns the exit code.
func run(args []string, a *app.Env) (code int) {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("agent-chatter"),
		kong.Description("A conversation between you and a team of AI agents that survives everything."),
		kong.Vars{"version": app.Version},
		kong.Writers(a.Stdout, a.Stderr),
		kong.Exit(func(status int) { panic(exitStatus(status)) }),
		kong.KindMapper(reflect.Int, kong.MapperFunc(app.DecodeNumber)),
		kong.TypeMapper(reflect.TypeFor[app.Days](), kong.MapperFunc(app.DecodeDays)),
		kong.TypeMapper(reflect.TypeFor[*app.Days](), kong.MapperFunc(app.DecodeDays)),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // the tags above are wrong
	}
	defer func() {
		switch reason := recover().(type) {
		case nil:
		case exitStatus: // after --help and --version
			code = int(reason)
		default:
			panic(reason)
		}
	}()
	if len(args) == 0 {
		args = []string{"--help"}
	}
	command, err := parser.Parse(args)
	var output *app.OutputError
	if errors.As(err, &output) { // of --help
		return a.Fail(output)
	}
	if err != nil {
		fmt.Fprintf(a.Stderr, "%s\n%s\n", parseText(err), usageHint(err))
		return app.ExitUsage
	}
	if err := prepare(a, c); err != nil {
		return a.Fail(err)
	}
	return a.Fail(command.Run(a))
}

type exitStatus int

func prepare(a *app.Env, c cli) (err error) {
	a.Progress = app.NewProgressLine(a)
	a.Log = newLogger(a.Stderr, c.LogLevel)
	a.NoColor = c.NoColor || os.Getenv("NO_COLOR") != ""
	if a.Cwd, err = os.Getwd(); err != nil {
		return &app.ExitError{Code: app.ExitFailed, Text: noDirectoryHereText(err)}
	}
	a.HomeFlag = c.Home != app.DefaultHome && c.Home != os.Getenv("AGENT_CHATTER_HOME")
	a.Home, err = app.HomeDir(c.Home)
	return err
}

func newLogger(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		panic(err) // the command line allows no other
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l}))
}

// usageHint is where to find help on the command that was meant, as far as one
// was.
func usageHint(err error) string {
	var parse *kong.ParseError
	if errors.As(err, &parse) && parse.Context != nil && parse.Context.Selected() != nil {
		return fmt.Sprintf("For help, type: %s --help", parse.Context.Selected().FullPath())
	}
	return "For help, type: agent-chatter --help"
}

type sessionsCommand struct {
	List    sessions.List    `cmd:"" default:"withargs" help:"List the sessions, the newest first."`
	Search  sessions.Search  `cmd:"" help:"Find messages in all sessions."`
	Show    sessions.Show    `cmd:"" help:"Show what is known of a session."`
	Rename  sessions.Rename  `cmd:"" help:"Give a session a title, by which it can be named."`
	Pin     sessions.Pin     `cmd:"" help:"Never archive or delete a session."`
	Unpin   sessions.Unpin   `cmd:"" help:"Treat a session as others again."`
	Delete  sessions.Delete  `cmd:"" help:"Move a session to the trash."`
	Restore maintain.Restore `cmd:"" help:"Take a session out of the trash."`
	Fork    sessions.Fork    `cmd:"" help:"Make an independent copy of a session."`
	Diff    sessions.Diff    `cmd:"" help:"Show where two sessions part, and what each has alone."`
	Merge   sessions.Merge   `cmd:"" help:"Make a session of two that parted."`
	Clean   maintain.Clean   `cmd:"" help:"Move old sessions to the trash, and empty it of older ones."`
	Export  transfer.Export  `cmd:"" help:"Write sessions to files for other programs."`
	Import  transfer.Import  `cmd:"" help:"Take over sessions from files."`
	Reindex maintain.Reindex `cmd:"" help:"Make the index and the checkpoints anew, from the journals alone."`
}

// Help shows examples first.
func (sessionsCommand) Help() string {
	return `Examples:
  agent-chatter sessions
  agent-chatter sessions search 'segmentation fault'
  agent-chatter sessions export latest --format md`
}
