package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/progress"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// Version is the version of the program. A release build sets it.
var Version = "0.1.0-dev"

// IO is where a command reads and writes: results to Stdout, everything else to
// Stderr.
type IO struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer
	NoColor        bool
	Plain          bool   // the terminal is used line by line, without control sequences
	Program        string // the path of this program; "" if it cannot start itself, as in a test

	// NetworkFS returns the kind of network file system that holds path, or "" if path
	// is on a local one. nil: vfs.NetworkFS.
	NetworkFS func(path string) string
}

// An App holds the streams, the configuration and the catalog of one run of a command.
type App struct {
	IO
	Home    string // of the sessions; absolute
	OwnHome string // of the settings, teams and agents that the user has chosen; mostly Home
	Cwd     string // the working directory
	Catalog *catalog.Catalog
	Remote  *home.Connection // to the hub; nil: there is none
	Log     *slog.Logger

	// Slash returns the slash command for a command of the program, or nil if a chat
	// has none. It is set while the user can type slash commands.
	Slash func(argv []string) []string

	// Present prints a message instead of Show, or an error instead of Fail, unless it is nil.
	Present func(State, Message)

	config    home.Config
	configErr error
	homeFlag  bool               // --home names the home
	progress  *progress.Progress // nil unless stderr is a terminal
	unread    *sync.Map          // directories whose read error was printed; lists may run concurrently

	ignoredReported bool
	unknownReported *sync.Once // settings of the configuration
}

// Options are the global flags of a run. The zero Options are those of a run
// without flags.
type Options struct {
	Home     string  // "": ~/.agent-chatter
	LogLevel *string // debug, info, warn or error; nil: info in LogFile, nothing on Stderr
	LogFile  string  // "": Stderr
	Hub      string  // addresses of the servers of a hub; "": those of the configuration
	Offline  bool    // the hub is not used
}

// New reads the configuration of the home and returns the App of a run. A
// configuration that cannot be read is an error of Config alone: commands that only
// read sessions work without one.
func New(streams IO, o Options) (*App, error) {
	if streams.NetworkFS == nil {
		streams.NetworkFS = vfs.NetworkFS
	}
	dir, err := home.Dir(o.Home)
	if err != nil {
		return nil, err
	}
	cwd, err := os.Getwd()
	if err != nil {
		return nil, Exit(ExitFailed,
			Text("Cannot find the working directory: %s\nChange to another directory.", tty.SafeLine(err.Error())))
	}
	own, err := home.Own(dir, o.Home, cwd)
	if err != nil {
		return nil, err
	}
	a := &App{
		IO: streams, Home: dir, OwnHome: own, Cwd: cwd,
		homeFlag: home.ByFlag(o.Home),
		unread:   new(sync.Map),

		unknownReported: new(sync.Once),
	}
	if os.Getenv("TERM") == "dumb" || !tty.EnableSequences(streams.Stdout) || !tty.EnableSequences(streams.Stderr) {
		a.SetPlain()
	}
	if tty.IsTerminal(streams.Stderr) && !a.Plain {
		a.progress = progress.New(streams.Stderr, func() int { return cmp.Or(tty.Columns(streams.Stderr), 80) })
	}
	a.Log, err = home.NewLogger(own, home.LogOptions{Level: o.LogLevel, File: o.LogFile, Stderr: streams.Stderr})
	if err != nil {
		return nil, Exit(ExitFailed, Text("Cannot open the log file: %s", tty.SafeLine(err.Error())))
	}
	a.config, a.configErr = home.ReadConfig(filepath.Join(own, "config.json"))
	if home.HasPassword(o.Hub) {
		return nil, UsageError("--hub has a password, which other users can read. Set AGENT_CHATTER_HUB instead.")
	}
	a.Remote = &home.Connection{Home: dir, Own: own, Config: a.Config, URLs: o.Hub, Offline: o.Offline}
	journals := journal.Options{
		MaxLine: a.config.Journal.MaxLine,
		Watch:   &journal.Watch{Refused: func(reason error) { a.Notice(notNotifiedText(reason)) }},
	}
	if a.progress != nil {
		journals.Progress = a.progress.Journal
	}
	a.Catalog = catalog.New(filepath.Join(dir, "sessions"), journals)
	a.Catalog.DirError = a.ReportUnreadable
	a.Catalog.Retired = a.logRetired
	if a.progress != nil {
		a.Catalog.Progress = a.progress.List
	}
	return a, nil
}

// Config returns the configuration of the home, overridden by the environment.
func (a *App) Config() (home.Config, error) {
	a.reportIgnored()
	if a.configErr != nil {
		return a.config, a.configErr
	}
	a.unknownReported.Do(a.reportUnknown)
	c, err := a.config.WithEnvironment()
	if err != nil {
		return c, UsageError("%v", err)
	}
	return c, nil
}

// reportUnknown prints the settings of the configuration that are ignored.
func (a *App) reportUnknown() {
	for _, setting := range a.config.Unknown {
		a.Notice(tty.SafeLine(config.UnknownText(filepath.Join(a.OwnHome, "config.json"), setting)))
	}
}

// LineLimit returns the maximum length of a journal line in bytes.
func (a *App) LineLimit() int { return cmp.Or(a.config.Journal.MaxLine, journal.DefaultMaxLine) }

// Identity returns the name and version that journals record.
func (a *App) Identity() projection.App {
	return projection.App{Name: "agent-chatter", Version: Version}
}

// IsTerminal reports whether a user can both type and read.
func (s IO) IsTerminal() bool {
	return tty.IsTerminal(s.Stdin) && tty.IsTerminal(s.Stdout)
}

// Notice prints a text and the commands that help to Stderr.
func (a *App) Notice(text string, help ...Help) { a.Show(Message{text, help}) }

// Show prints a message to Stderr. On a terminal, long lines of the text break
// between words; a command stays whole, so that it can be copied. Of an empty message it prints nothing.
func (a *App) Show(m Message) { a.show(StateNote, m) }

func (a *App) show(state State, m Message) {
	a.progress.Erase()
	if a.Present != nil {
		if m.Text != "" {
			a.Present(state, m)
		}
		return
	}
	text := a.Render(Message{Help: m.Help})
	if m.Text != "" {
		columns := 0
		if a.progress != nil {
			columns = a.progress.Columns()
		}
		text = strings.TrimSuffix(tty.Fold(m.Text, columns)+"\n"+text, "\n")
	}
	if text != "" {
		fmt.Fprintln(a.Stderr, text)
	}
}

// Fail prints err and returns the exit code for it.
func (a *App) Fail(err error) int {
	if err == nil {
		return ExitDone
	}
	if m := Explain(err); m.Text != "" {
		a.show(StateWrong, m)
	}
	return CodeOf(err)
}

// WithStderr returns a copy of a that prints its messages to w, and no progress.
func (a *App) WithStderr(w io.Writer) *App {
	other := *a
	other.Stderr, other.progress = w, nil
	return &other
}

// ReportUnreadable prints, once for each path, that a team's directory cannot be
// read and is left out.
func (a *App) ReportUnreadable(path string, err error) {
	if _, reported := a.unread.LoadOrStore(path, true); !reported {
		a.Notice(unreadableText(path, err))
	}
}

// HasUnreadable reports whether ReportUnreadable was called.
func (a *App) HasUnreadable() bool {
	found := false
	a.unread.Range(func(_, _ any) bool {
		found = true
		return false
	})
	return found
}

// UntilSignal returns a context that ends at SIGINT, SIGTERM or SIGHUP.
func UntilSignal() (ctx context.Context, stop func()) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// UntilUnread returns a context that also ends when the reader of a pipe at Stdout
// closes it.
func (a *App) UntilUnread() (ctx context.Context, stop func()) {
	ctx, stop = UntilSignal()
	if out, ok := a.Stdout.(interface{ Fd() uintptr }); ok {
		go tty.WatchReader(ctx, out.Fd(), stop)
	}
	return ctx, stop
}

// SetPlain turns off what a terminal line by line does not take: colours and progress.
func (a *App) SetPlain() {
	a.Plain, a.NoColor = true, true
	a.HideProgress()
}

// HideProgress hides the progress line: something else draws on the terminal.
func (a *App) HideProgress() {
	if a.progress != nil {
		a.progress.Hidden = true
	}
}

// HideArchiving hides the progress of archiving, which a chat does in the background.
func (a *App) HideArchiving() {
	if a.progress != nil {
		a.progress.HideArchiving = true
	}
}

// EraseProgress removes the progress line before other output.
func (a *App) EraseProgress() { a.progress.Erase() }

// Begin shows on a terminal that something takes long, until end is called.
func (a *App) Begin(what string) (end func()) { return a.progress.Begin(what) }
