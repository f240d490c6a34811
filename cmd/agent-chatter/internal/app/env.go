package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/agent-chatter/agent-chatter/coordinator/redact"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/interchange"
	"golang.org/x/term"
)

// isTerminal reports whether a person sits in front of both ends.
func (a *Env) IsTerminal() bool {
	out, ok := a.Stdout.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(a.Stdin.Fd())) && term.IsTerminal(int(out.Fd()))
}

// config reads the file, and the environment over it.
func (a *Env) Config() (Config, error) {
	c, err := readConfig(filepath.Join(a.Home, "config.json"))
	if err != nil {
		return c, err
	}
	return c, c.Retention.fromEnvironment()
}

// maxLine is the configured limit of a line, or 0. Reading needs no
// configuration: where there is one that cannot be used, the usual limit counts,
// and whatever writes says what is wrong with it.
func (a *Env) maxLine() int {
	c, err := readConfig(filepath.Join(a.Home, "config.json"))
	if err != nil {
		return 0
	}
	return c.Journal.MaxLine
}

// lineLimit is the limit that counts, in bytes.
func (a *Env) LineLimit() int { return cmp.Or(a.maxLine(), journal.DefaultMaxLine) }

// version is set when a release is built.
var Version = "0.1.0-dev"

// outputError says that a result did not arrive where it was to be printed.
type OutputError struct{ Err error }

func (e *OutputError) Error() string { return e.Err.Error() }

func (e *OutputError) Unwrap() error { return e.Err }

// app is what every command works with.
type Env struct {
	Stdin          *os.File
	Stdout, Stderr io.Writer

	Home     string
	Cwd      string
	NoColor  bool
	HomeFlag bool // home was named on the command line
	Log      *slog.Logger

	NetworkFS func(path string) string // journal.NetworkFS
	watch     *journal.Watch           // of a command that follows journals
	Progress  *progressLine            // nil: nobody watches
	Unread    map[string]bool          // directories that could not be read, which was said
}

const DefaultHome = "~/.agent-chatter"

// Exit codes, which scripts rely on.
const (
	ExitDone        = 0
	ExitFailed      = 1
	ExitUsage       = 2
	ExitNotFound    = 3
	ExitLocked      = 4
	ExitDamaged     = 5
	ExitInterrupted = 130
)

// homeDir expands what a shell would have expanded. An empty name, as of a
// variable that is set to nothing, is not the working directory.
func HomeDir(dir string) (string, error) {
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

func (a *Env) Catalog() *catalog.Catalog {
	c := a.QuietCatalog(a.Progress.teller())
	c.DirError = a.SayUnread
	if a.Progress != nil {
		c.Progress = a.Progress.list
	}
	return c
}

// sayUnread says once that a directory of a team cannot be read. Whatever lists
// sessions goes on without it.
func (a *Env) SayUnread(path string, err error) {
	if !a.Unread[path] {
		a.Notice(unreadText(path, err))
	}
	if a.Unread == nil {
		a.Unread = map[string]bool{}
	}
	a.Unread[path] = true
}

// quietCatalog is one whose lists show nothing of how far they are.
func (a *Env) QuietCatalog(progress func(journal.Progress)) *catalog.Catalog {
	return catalog.New(filepath.Join(a.Home, "sessions"), journal.Options{MaxLine: a.maxLine(), Watch: a.watch, Progress: progress})
}

func (a *Env) Identity() projection.App {
	return projection.App{Name: "agent-chatter", Version: Version}
}

// notice says something that is no result.
func (a *Env) Notice(text string) {
	a.Progress.erase()
	fmt.Fprintln(a.Stderr, a.Progress.fold(a.Advice(text)))
}

// advice is a text whose commands work as they are typed: they name the home,
// where it was named on the command line.
func (a *Env) Advice(text string) string {
	if !a.HomeFlag {
		return text
	}
	return typedCommand.ReplaceAllStringFunc(text, func(command string) string {
		return strings.Replace(command, "agent-chatter ", "agent-chatter --home "+hint.Quote(a.Home)+" ", 1)
	})
}

// typedCommand is a command as texts name it.
var typedCommand = regexp.MustCompile(`[:;] agent-chatter (chat|replay|tail|compact|verify|repair|sessions|doctor|team|agents)\b`)

// exitError ends the program with a code. Its message, if any, has been chosen
// for people.
type ExitError struct {
	Code int
	Text string
}

func (e *ExitError) Error() string { return e.Text }

func UsageError(format string, args ...any) error {
	return &ExitError{ExitUsage, fmt.Sprintf(format, args...)}
}

// fail says what went wrong and returns the exit code for it.
func (a *Env) Fail(err error) int {
	if err == nil {
		return ExitDone
	}
	if text := Explain(err); text != "" {
		a.Notice(text)
	}
	return CodeOf(err)
}

func CodeOf(err error) int {
	var exit *ExitError
	var corrupt *journal.CorruptError
	var headless *catalog.MissingHeaderError
	var ambiguous *catalog.AmbiguousError
	switch {
	case errors.As(err, &exit):
		return exit.Code
	case errors.As(err, &ambiguous):
		return ExitUsage
	case errors.Is(err, journal.ErrNotFound), errors.Is(err, team.ErrNotFound), errors.Is(err, team.ErrAgentNotFound):
		return ExitNotFound
	case errors.Is(err, journal.ErrLocked):
		return ExitLocked
	case errors.As(err, &corrupt), errors.As(err, &headless):
		return ExitDamaged
	}
	return ExitFailed
}

// untilSignal is done when a person or the system ends the program.
func UntilSignal() (ctx context.Context, stop func()) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// now is when this command runs.
func Now() time.Time { return time.Now() }

// elapsed is how many of the longest unit that fits have passed; 0 is less than a
// minute.
func Elapsed(t, now time.Time) (n int, unit string) {
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

// redactor replaces the secrets in what a command writes outside of a chat; nil, which replaces
// nothing, when the configuration says so. Without one that can be read they are replaced.
func (a *Env) Redactor(variables []redact.Variable) *redact.Redactor {
	if c, err := readConfig(filepath.Join(a.Home, "config.json")); err == nil && c.KeepSecrets() {
		return nil
	}
	return redact.New(variables)
}

// sayReplaced says what was replaced.
func (a *Env) SayReplaced(r *redact.Redactor) {
	if found := r.Found(); len(found) > 0 {
		a.Notice(SecretsReplacedText(redact.Kinds(found), len(found)))
	}
}

// titleWithoutSecrets is a title as it may be kept.
func (a *Env) TitleWithoutSecrets(title string) string {
	r := a.Redactor(team.InheritedSecrets())
	defer a.SayReplaced(r)
	return r.Text(title)
}

// takeSecrets replaces the secrets in a session of another program: those that have a shape,
// since whose environment it came from is not known, and a later save of it has to give the
// same.
func (a *Env) TakeSecrets(s *interchange.Session) {
	r := a.Redactor(nil)
	defer a.SayReplaced(r)
	for i, m := range s.Messages {
		s.Messages[i].Content = r.Text(m.Content)
	}
	for _, turn := range s.Turns {
		for i, tool := range turn.Tools {
			turn.Tools[i].Input, turn.Tools[i].Output, turn.Tools[i].Error = r.JSON(tool.Input), r.Text(tool.Output), r.Text(tool.Error)
		}
	}
	s.Title = r.Text(s.Title)
	if s.Task != nil {
		task := r.Text(*s.Task)
		s.Task = &task
	}
}

// columns is how wide the terminal is that results are printed to; 0 when they
// go elsewhere, where nothing is shortened.
func (a *Env) Columns() int {
	switch out := a.Stdout.(type) {
	case *tty.Console:
		return out.Width()
	case interface{ Fd() uintptr }:
		if width, _, err := term.GetSize(int(out.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// follow prepares for following journals until a person or a signal ends it, or
// nobody reads what is printed any more.
func (a *Env) Follow() (ctx context.Context, stop func()) {
	a.watch = &journal.Watch{Refused: func(reason error) { a.Notice(notNotifiedText(reason)) }}
	ctx, stop = UntilSignal()
	if out, ok := a.Stdout.(interface{ Fd() uintptr }); ok {
		go tty.WhileRead(ctx, out.Fd(), stop)
	}
	return ctx, stop
}
