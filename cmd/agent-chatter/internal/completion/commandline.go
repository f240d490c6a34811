package completion

import (
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/alecthomas/kong"
)

// commandLine is an incomplete command line after the words taken so far.
type commandLine struct {
	app   *app.App
	node  *kong.Node
	args  int        // arguments so far
	first string     // the first of them
	flag  *kong.Flag // the flag whose value follows; nil if none
	plain bool       // nothing is a flag: after --, or in the arguments for another program
}

// take adds a complete word.
func (l *commandLine) take(word string) {
	flag := l.flag
	l.flag = nil
	switch {
	case flag != nil && !(mayStandAlone(flag) && strings.HasPrefix(word, "-")):
		l.setHome(flag, word)
	case l.plain || word == "-" || !strings.HasPrefix(word, "-"):
		l.takeArgument(word)
	case word == "--":
		l.plain = true
	case strings.HasPrefix(word, "--"):
		name, value, has := strings.Cut(word[2:], "=")
		if flag := l.flagNamed(func(f *kong.Flag) bool { return f.Name == name }); flag != nil {
			l.takeFlag(flag, value, has)
		}
	default:
		l.takeShort(word[1:])
	}
}

// takeFlag takes a flag. has reports whether its value is in the same word.
func (l *commandLine) takeFlag(f *kong.Flag, value string, has bool) {
	switch {
	case f.IsBool():
	case has:
		l.setHome(f, value)
	default:
		l.flag = f
	}
}

// takeShort takes flags of one letter; a value may follow the last one.
func (l *commandLine) takeShort(letters string) {
	for i, letter := range letters {
		f := l.flagNamed(func(f *kong.Flag) bool { return f.Short == letter })
		if f == nil || !f.IsBool() {
			if f != nil {
				value := letters[i+len(string(letter)):]
				l.takeFlag(f, value, value != "")
			}
			return
		}
	}
}

// takeArgument takes a subcommand or an argument.
func (l *commandLine) takeArgument(word string) {
	if l.args == 0 && !l.plain {
		for _, child := range l.node.Children {
			if child.Name == word || slices.Contains(child.Aliases, word) {
				l.node = child
				return
			}
		}
	}
	if l.node.DefaultCmd != nil {
		l.node = l.node.DefaultCmd
	}
	if l.args < len(l.node.Positional) && l.node.Positional[l.args].Passthrough {
		l.plain = true
	}
	if l.args == 0 {
		l.first = word
	}
	l.args++
}

// setHome uses the home that the command line names.
func (l *commandLine) setHome(f *kong.Flag, value string) {
	if f.Name != "home" {
		return
	}
	if a, err := app.New(l.app.IO, app.Options{Home: value}); err == nil {
		l.app = a
	}
}

// flags returns the flags of the command.
func (l *commandLine) flags() []*kong.Flag {
	node := l.node
	if node.DefaultCmd != nil {
		node = node.DefaultCmd
	}
	return slices.Concat(node.AllFlags(true)...)
}

// flagNamed returns the flag of the command that matches, or nil.
func (l *commandLine) flagNamed(matches func(*kong.Flag) bool) *kong.Flag {
	for _, f := range l.flags() {
		if matches(f) {
			return f
		}
	}
	return nil
}
