package app

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/progress"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// An App has where things are and how the program speaks in one run of a command.
type App struct {
	Printer
	Home    string // absolute
	Cwd     string // the working directory
	Catalog *catalog.Catalog
	Remote  *home.Connection // to the hub; nil: there is none
	Log     *slog.Logger

	config    home.Config
	configErr error
	unread    *sync.Map // directories whose read error was printed; lists may run concurrently

	givenHome       string       // as it was named
	insideReported  *sync.Once   // that the home is in the working directory
	light           *atomic.Bool // the background of the terminal is light
	unknownReported *sync.Once   // settings of the configuration
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
	a := &App{
		Printer: Printer{IO: streams}, Home: dir, Cwd: cwd,
		unread: new(sync.Map), givenHome: o.Home, insideReported: new(sync.Once), light: new(atomic.Bool),
		unknownReported: new(sync.Once),
	}
	if home.ByFlag(o.Home) {
		a.homeArgument = dir
	}
	if os.Getenv("TERM") == "dumb" || !tty.EnableSequences(streams.Stdout) || !tty.EnableSequences(streams.Stderr) {
		a.SetPlain()
	}
	if tty.IsTerminal(streams.Stderr) && !a.Plain {
		a.progress = progress.New(streams.Stderr, func() int { return cmp.Or(tty.Columns(streams.Stderr), 80) })
	}
	a.Log, err = home.NewLogger(dir, home.LogOptions{Level: o.LogLevel, File: o.LogFile, Stderr: streams.Stderr})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, Exit(ExitFailed, noLogDirectoryText(filepath.Dir(o.LogFile)))
	case err != nil:
		return nil, Exit(ExitFailed, Text("The log file cannot be opened: %s", tty.SafeLine(err.Error())))
	}
	a.config, a.configErr = home.ReadConfig(filepath.Join(dir, "config.json"))
	if home.HasPassword(o.Hub) {
		return nil, UsageError("--hub has a password, which other users can read. Set AGENT_CHATTER_HUB instead.")
	}
	a.Remote = &home.Connection{Home: dir, Config: a.configuration, URLs: o.Hub, Offline: o.Offline}
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

// Config returns the configuration of the home, overridden by the environment. If others can change what the home
// decides, the error is a *home.OthersError.
func (a *App) Config() (home.Config, error) {
	a.insideReported.Do(a.reportInside)
	return a.configuration()
}

// Theme returns the theme of the configuration, or of the background that SetLight has reported.
func (a *App) Theme() home.Theme {
	if a.config.Theme == "" && a.light != nil && a.light.Load() {
		return home.ThemeLight
	}
	return a.config.Theme
}

// SetLight reports that the background of the terminal is light.
func (a *App) SetLight() { a.light.Store(true) }

// configuration is Config for commands that run nothing.
func (a *App) configuration() (home.Config, error) {
	if err := home.CheckOwner(a.Home); err != nil {
		return a.config, err
	}
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
		a.Notice(tty.SafeLine(home.UnknownText(filepath.Join(a.Home, "config.json"), setting)))
	}
}

// LineLimit returns the maximum length of a journal line in bytes.
func (a *App) LineLimit() int { return cmp.Or(a.config.Journal.MaxLine, journal.DefaultMaxLine) }

// Identity returns the name and version that journals record.
func (a *App) Identity() projection.App {
	return projection.App{Name: "agent-chatter", Version: ThisBuild().Version}
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

// WithStderr returns a copy of a that prints its messages to w, and no progress.
func (a *App) WithStderr(w io.Writer) *App {
	other := *a
	other.Stderr, other.progress = w, nil
	return &other
}
