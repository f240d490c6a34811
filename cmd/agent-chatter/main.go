// Command agent-chatter runs a conversation between people and AI agents in the
// terminal and never loses a word of it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/alecthomas/kong"
	"golang.org/x/term"
)

// version is set when a release is built.
var version = "0.1.0-dev"

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
	code := run(os.Args[1:], &app{stdin: os.Stdin, stdout: results, stderr: os.Stderr, networkFS: journal.NetworkFS})
	if code == exitDone && results.err != nil && !watched {
		fmt.Fprintln(os.Stderr, explain(results.err))
		code = exitFailed
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
		err = &outputError{fmt.Errorf("standard output: %w", err)}
	}
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// outputError says that a result did not arrive where it was to be printed.
type outputError struct{ err error }

func (e *outputError) Error() string { return e.err.Error() }
func (e *outputError) Unwrap() error { return e.err }

// app is what every command works with.
type app struct {
	stdin          *os.File
	stdout, stderr io.Writer

	home     string
	cwd      string
	noColor  bool
	homeFlag bool // home was named on the command line
	log      *slog.Logger

	networkFS func(path string) string // journal.NetworkFS
	watch     *journal.Watch           // of a command that follows journals
	progress  *progressLine            // nil: nobody watches
	unread    map[string]bool          // directories that could not be read, which was said
}

const defaultHome = "~/.agent-chatter"

// cli is the command line.
type cli struct {
	Home     string           `help:"Where sessions, teams and the configuration lie." env:"AGENT_CHATTER_HOME" default:"~/.agent-chatter" placeholder:"DIR"`
	NoColor  bool             `help:"Print without colour (also: NO_COLOR set to anything)."`
	LogLevel string           `help:"How much is logged to standard error: ${enum}." enum:"debug,info,warn,error" default:"warn"`
	Version  kong.VersionFlag `help:"Print the version."`

	Chat     chatCommand     `cmd:"" help:"Talk with a team of agents, or go on with an earlier session."`
	Replay   replayCommand   `cmd:"" help:"Show a conversation again, from its journal alone."`
	Tail     tailCommand     `cmd:"" help:"Show the last events of a session, and with -f those to come."`
	Compact  compactCommand  `cmd:"" help:"Write checkpoints and archive old sessions."`
	Verify   verifyCommand   `cmd:"" help:"Check every line of the journals."`
	Repair   repairCommand   `cmd:"" help:"Make a damaged session usable again, setting aside what does not check."`
	Sessions sessionsCommand `cmd:"" help:"List, show and delete sessions."`
	Doctor   doctorCommand   `cmd:"" help:"Check where sessions are kept, and say what is wrong and what helps."`
	Team     teamCommand     `cmd:"" help:"Make, list and check team configurations."`
	Agents   agentsCommand   `cmd:"" help:"Find, register and try out the agents that all teams can use."`

	Completion completionCommand `cmd:"" help:"Print what makes a shell complete commands, sessions and teams."`
	Complete   completeCommand   `cmd:"" name:"__complete" hidden:"" help:"Print what a word can become."`
}

// Exit codes, which scripts rely on.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitNotFound    = 3
	exitLocked      = 4
	exitDamaged     = 5
	exitInterrupted = 130
)

// run executes one command line and returns the exit code.
func run(args []string, a *app) (code int) {
	var c cli
	parser, err := kong.New(&c,
		kong.Name("agent-chatter"),
		kong.Description("A conversation between you and a team of AI agents that survives everything."),
		kong.Vars{"version": version},
		kong.Writers(a.stdout, a.stderr),
		kong.Exit(func(status int) { panic(exitStatus(status)) }),
		kong.KindMapper(reflect.Int, kong.MapperFunc(decodeNumber)),
		kong.TypeMapper(reflect.TypeFor[days](), kong.MapperFunc(decodeDays)),
		kong.TypeMapper(reflect.TypeFor[*days](), kong.MapperFunc(decodeDays)),
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
	var output *outputError
	if errors.As(err, &output) { // of --help
		return a.fail(output)
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "%s\n%s\n", parseText(err), usageHint(err))
		return exitUsage
	}
	if err := a.prepare(c); err != nil {
		return a.fail(err)
	}
	return a.fail(command.Run(a))
}

type exitStatus int

func (a *app) prepare(c cli) (err error) {
	a.progress = newProgressLine(a)
	a.log = newLogger(a.stderr, c.LogLevel)
	a.noColor = c.NoColor || os.Getenv("NO_COLOR") != ""
	if a.cwd, err = os.Getwd(); err != nil {
		return &exitError{exitFailed, noDirectoryHereText(err)}
	}
	a.homeFlag = c.Home != defaultHome && c.Home != os.Getenv("AGENT_CHATTER_HOME")
	a.home, err = homeDir(c.Home)
	return err
}

func newLogger(w io.Writer, level string) *slog.Logger {
	var l slog.Level
	if err := l.UnmarshalText([]byte(level)); err != nil {
		panic(err) // the command line allows no other
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: l}))
}

// homeDir expands what a shell would have expanded. An empty name, as of a
// variable that is set to nothing, is not the working directory.
func homeDir(dir string) (string, error) {
	if dir == "" {
		dir = "~/.agent-chatter"
	}
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("%w: say where with --home DIR", err)
		}
		dir = filepath.Join(user, rest)
	}
	return filepath.Abs(dir)
}

func (a *app) catalog() *catalog.Catalog {
	c := a.quietCatalog(a.progress.teller())
	c.DirError = a.sayUnread
	if a.progress != nil {
		c.Progress = a.progress.list
	}
	return c
}

// sayUnread says once that a directory of a team cannot be read. Whatever lists
// sessions goes on without it.
func (a *app) sayUnread(path string, err error) {
	if !a.unread[path] {
		a.notice(unreadText(path, err))
	}
	if a.unread == nil {
		a.unread = map[string]bool{}
	}
	a.unread[path] = true
}

// quietCatalog is one whose lists show nothing of how far they are.
func (a *app) quietCatalog(progress func(journal.Progress)) *catalog.Catalog {
	return catalog.New(filepath.Join(a.home, "sessions"), journal.Options{MaxLine: a.maxLine(), Watch: a.watch, Progress: progress})
}

func (a *app) identity() projection.App {
	return projection.App{Name: "agent-chatter", Version: version}
}

// notice says something that is no result.
func (a *app) notice(text string) {
	a.progress.erase()
	fmt.Fprintln(a.stderr, a.progress.fold(a.advice(text)))
}

// advice is a text whose commands work as they are typed: they name the home,
// where it was named on the command line.
func (a *app) advice(text string) string {
	if !a.homeFlag {
		return text
	}
	return typedCommand.ReplaceAllStringFunc(text, func(command string) string {
		return strings.Replace(command, "agent-chatter ", "agent-chatter --home "+hint.Quote(a.home)+" ", 1)
	})
}

// typedCommand is a command as texts name it.
var typedCommand = regexp.MustCompile(`[:;] agent-chatter (chat|replay|tail|compact|verify|repair|sessions|doctor|team|agents)\b`)

// exitError ends the program with a code. Its message, if any, has been chosen
// for people.
type exitError struct {
	code int
	text string
}

func (e *exitError) Error() string { return e.text }

func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Sprintf(format, args...)}
}

// fail says what went wrong and returns the exit code for it.
func (a *app) fail(err error) int {
	if err == nil {
		return exitDone
	}
	if text := explain(err); text != "" {
		a.notice(text)
	}
	return codeOf(err)
}

func codeOf(err error) int {
	var exit *exitError
	var corrupt *journal.CorruptError
	var headless *catalog.MissingHeaderError
	var ambiguous *catalog.AmbiguousError
	switch {
	case errors.As(err, &exit):
		return exit.code
	case errors.As(err, &ambiguous):
		return exitUsage
	case errors.Is(err, journal.ErrNotFound), errors.Is(err, team.ErrNotFound), errors.Is(err, team.ErrAgentNotFound):
		return exitNotFound
	case errors.Is(err, journal.ErrLocked):
		return exitLocked
	case errors.As(err, &corrupt), errors.As(err, &headless):
		return exitDamaged
	}
	return exitFailed
}

// untilSignal is done when a person or the system ends the program.
func untilSignal() (ctx context.Context, stop func()) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// now is when this command runs.
func now() time.Time { return time.Now() }

// elapsed is how many of the longest unit that fits have passed; 0 is less than a
// minute.
func elapsed(t, now time.Time) (n int, unit string) {
	d := now.Sub(t)
	switch {
	case d < time.Minute:
		return 0, ""
	case d < time.Hour:
		return int(d / time.Minute), "minute"
	case d < 24*time.Hour:
		return int(d / time.Hour), "hour"
	}
	return int(d / (24 * time.Hour)), "day"
}
