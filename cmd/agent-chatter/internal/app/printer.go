package app

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/progress"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
)

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

// A Printer is how one run of the program speaks to its user. Its zero value, with streams, shows no progress.
type Printer struct {
	IO

	// Slash returns the slash command for a command of the program, or nil if a chat
	// has none. It is set while the user can type slash commands.
	Slash func(argv []string) []string

	// Present prints a message instead of Show, or an error instead of Fail, unless it is nil.
	Present func(State, Message)

	// Heard is called with each message that Show and Fail print, before they do, unless it is nil.
	Heard func(Message)

	homeArgument string             // the value of --home in suggested commands; "": they need none
	progress     *progress.Progress // nil unless stderr is a terminal
}

// IsTerminal reports whether a user can both type and read.
func (s IO) IsTerminal() bool {
	return tty.IsTerminal(s.Stdin) && tty.IsTerminal(s.Stdout)
}

// Notice prints a text and the commands that help to Stderr.
func (p *Printer) Notice(text string, help ...Help) { p.Show(Message{text, help}) }

// Show prints a message to Stderr. On a terminal, long lines of the text break
// between words; a command stays whole, so that it can be copied. Of an empty message it prints nothing.
func (p *Printer) Show(m Message) { p.show(StateNote, m) }

func (p *Printer) show(state State, m Message) {
	p.progress.Erase()
	if p.Heard != nil {
		p.Heard(m)
	}
	if p.Present != nil {
		if m.Text != "" {
			p.Present(state, m)
		}
		return
	}
	text := p.Render(Message{Help: m.Help})
	if m.Text != "" {
		columns := 0
		if p.progress != nil {
			columns = p.progress.Columns()
		}
		text = strings.TrimSuffix(tty.Fold(m.Text, columns)+"\n"+text, "\n")
	}
	if text != "" {
		fmt.Fprintln(p.Stderr, text)
	}
}

// Fail prints err and returns the exit code for it.
func (p *Printer) Fail(err error) int {
	if err == nil {
		return ExitDone
	}
	if m := Explain(err); m.Text != "" {
		p.show(StateWrong, m)
	}
	return CodeOf(err)
}

// Render returns the text of m followed by its commands, each on a line of its own
// that can be pasted. A slash command is left out where none can be typed.
func (p *Printer) Render(m Message) string {
	lines := []string{}
	if m.Text != "" {
		lines = append(lines, m.Text)
	}
	for _, h := range m.Help {
		if command := p.CommandLine(h.Command); command != "" {
			lines = append(lines, fmt.Sprintf("To %s, type: %s", h.Purpose, command))
		}
	}
	return strings.Join(lines, "\n")
}

// Confirm asks a question at the terminal. Only y and yes, in either case, confirm.
func (p *Printer) Confirm(question string) (bool, error) {
	p.progress.Erase()
	fmt.Fprint(p.Stderr, question+" [y/N] ")
	answer, err := tty.NewAnswers(p.Stdin).Next()
	if err != nil && err != io.EOF {
		return false, err
	}
	answer = strings.ToLower(answer)
	return answer == "y" || answer == "yes", nil
}

// CommandLine returns a hint as the user has to type it: in a chat as a slash
// command if there is one, in a shell with --home if the user named the home. It
// returns "" if the hint cannot be typed here.
func (p *Printer) CommandLine(h hint.Hint) string {
	switch h.Kind {
	case hint.Run:
		return hint.Join(h.Argv)
	case hint.Slash:
		if p.Slash == nil {
			return ""
		}
		return "/" + strings.Join(h.Argv, " ")
	case hint.Command:
		if p.Slash != nil {
			if slash := p.Slash(h.Argv); slash != nil {
				return "/" + strings.Join(slash, " ")
			}
		}
		argv := []string{"agent-chatter"}
		if p.homeArgument != "" {
			argv = append(argv, "--home", p.homeArgument)
		}
		return hint.Join(append(argv, h.Argv...))
	}
	return ""
}

// UntilSignal returns a context that ends at SIGINT, SIGTERM or SIGHUP.
func UntilSignal() (ctx context.Context, stop func()) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
}

// UntilUnread returns a context that also ends when the reader of a pipe at Stdout
// closes it.
func (p *Printer) UntilUnread() (ctx context.Context, stop func()) {
	ctx, stop = UntilSignal()
	if out, ok := p.Stdout.(interface{ Fd() uintptr }); ok {
		go tty.WatchReader(ctx, out.Fd(), stop)
	}
	return ctx, stop
}

// SetPlain turns off what a terminal line by line does not take: colours and progress.
func (p *Printer) SetPlain() {
	p.Plain, p.NoColor = true, true
	p.HideProgress()
}

// HideProgress hides the progress line: something else draws on the terminal.
func (p *Printer) HideProgress() {
	if p.progress != nil {
		p.progress.Hidden = true
	}
}

// HideArchiving hides the progress of archiving, which a chat does in the background.
func (p *Printer) HideArchiving() {
	if p.progress != nil {
		p.progress.HideArchiving = true
	}
}

// EraseProgress removes the progress line before other output.
func (p *Printer) EraseProgress() { p.progress.Erase() }

// Begin shows on a terminal that something takes long, until end is called.
func (p *Printer) Begin(what string) (end func()) { return p.progress.Begin(what) }
