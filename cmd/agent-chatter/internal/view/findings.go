package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/view/ansi"
)

// A Findings prints findings on a terminal, each when it is added.
type Findings struct {
	app    *app.App
	style  Style
	checks int       // columns of the names of checks
	begun  bool      // something is printed
	worst  app.State // of the findings
}

// FindingsOnTerminal returns the Findings of a command with a flag --output. The names of its checks, if it has any,
// are a column before the findings. From then on, the messages and errors of the App are findings, too.
// FindingsOnTerminal returns nil if the command prints JSON, or if standard output or error is a pipe or a terminal
// without control sequences.
func FindingsOnTerminal(a *app.App, output string, checks ...string) *Findings {
	style := OutputStyle(a)
	if output != "text" || style.Plain || !tty.IsTerminal(a.Stderr) {
		return nil
	}
	l := &Findings{app: a, style: style, worst: app.StateOK}
	for _, check := range checks {
		l.checks = max(l.checks, len(check))
	}
	a.Present = l.present
	return l
}

// present adds a message. An error of printing is one of standard output, which keeps it.
func (l *Findings) present(state app.State, m app.Message) {
	text, warns := strings.CutPrefix(m.Text, "⚠️  ")
	if warns { // its other lines are indented by as much
		text = strings.ReplaceAll(text, "\n   ", "\n")
	}
	what, help, _ := strings.Cut(text, "\n")
	_ = l.Add(app.Finding{State: state, What: what, Help: help, Commands: m.Help})
}

// AddError prints an error, after which the command continues.
func (l *Findings) AddError(err error) { l.present(app.StateWrong, app.Explain(err)) }

// Begin begins a group of findings with its name.
func (l *Findings) Begin(name string) error {
	heading := ansi.Line{{Text: name, Style: ansi.Style{Bold: true}}}
	lines := []ansi.Line{ansi.Cut(heading, l.columns())}
	if l.begun {
		lines = append([]ansi.Line{nil}, lines...)
	}
	return l.print(lines)
}

// Add prints a finding.
func (l *Findings) Add(f app.Finding) error {
	if l.worst != app.StateWrong && f.State != app.StateOK {
		l.worst = f.State
	}
	return l.print(l.lines(f, ansi.Style{}))
}

// End prints the last line, with the sign of the worst finding, and returns err without its message, which that line
// replaces. A nil Findings returns err.
func (l *Findings) End(summary string, err error) error {
	if l == nil {
		return err
	}
	if err != nil {
		l.worst = app.StateWrong
	}
	lines := l.lines(app.Finding{State: l.worst, What: summary}, ansi.Style{Bold: true})
	if l.begun {
		lines = append([]ansi.Line{nil}, lines...)
	}
	if err := l.print(lines); err != nil {
		return err
	}
	if err != nil {
		return app.Exit(app.CodeOf(err), app.Message{})
	}
	return nil
}

func (l *Findings) print(lines []ansi.Line) error {
	l.app.EraseProgress()
	l.begun = true
	for _, line := range lines {
		if _, err := fmt.Fprintln(l.app.Stdout, l.style.Profile.Encode(line)); err != nil {
			return err
		}
	}
	return nil
}

const commandIndent = "  " // in addition to that of what the command is for

// columns is how many columns of the terminal are used.
func (l *Findings) columns() int { return max(l.style.Width-1, minColumns) }

var (
	dim     = ansi.Style{Dim: true}
	command = ansi.Style{Color: ansi.Cyan}
	signs   = map[app.State]ansi.Span{
		app.StateOK:    {Text: "✓ ", Style: ansi.Style{Color: ansi.Green}},
		app.StateNote:  {Text: "⚠ ", Style: ansi.Style{Color: ansi.Yellow}},
		app.StateWrong: {Text: "✗ ", Style: ansi.Style{Color: ansi.Red}},
	}
)

// lines returns the lines of a finding: what it is, in a style, and what helps. The rest of a broken line is indented
// as its beginning. Long words and commands are not broken: the terminal does that, and they can be copied whole.
func (l *Findings) lines(f app.Finding, style ansi.Style) (lines []ansi.Line) {
	head := ansi.Line{signs[f.State]}
	if f.Check != "" {
		head = append(head, ansi.Span{Text: fmt.Sprintf("%-*s  ", l.checks, f.Check)})
	}
	indent := ansi.Line{{Text: strings.Repeat(" ", head.Columns())}}
	room := l.columns() - head.Columns()
	add := func(first ansi.Line, text string, style ansi.Style) {
		for source := range strings.Lines(text) {
			words := strings.TrimLeft(source, " ")
			lead := ansi.Span{Text: source[:len(source)-len(words)]}
			width := max(room-len(lead.Text), minColumns)
			for _, line := range ansi.Flow(ansi.Line{{Text: words, Style: style}}, width) {
				lines = append(lines, slices.Concat(first, ansi.Line{lead}, line))
				first = indent
			}
		}
	}
	add(head, f.What, style)
	add(indent, f.Help, dim)
	for _, help := range f.Commands {
		if line := l.app.CommandLine(help.Command); line != "" {
			add(indent, "To "+help.Purpose+":", dim)
			lines = append(lines, slices.Concat(indent, ansi.Line{{Text: commandIndent}, {Text: line, Style: command}}))
		}
	}
	return lines
}
