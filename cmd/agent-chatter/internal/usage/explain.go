package usage

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator/hint"
	"github.com/alecthomas/kong"
)

// Explain returns what is wrong with a command line that kong refuses, and the command that helps.
func Explain(err error, args []string) app.Message {
	var parse *kong.ParseError
	if !errors.As(err, &parse) || parse.Context == nil {
		return app.Message{Text: app.Sentence(err) + "\n" + helpText("agent-chatter")}
	}
	node := parse.Context.Selected()
	text, _, _ := strings.Cut(err.Error(), ", did you mean") // kong's own suggestion
	if other, ok := otherSpelling(args); ok && node == nil {
		return app.Text("%s", app.Sentence(errors.New(text))).With(other)
	}
	if nearest, ok := suggestion(text, parse.Context); ok {
		text += fmt.Sprintf(", did you mean %q?", nearest)
	} else if word, ok := strings.CutPrefix(text, unexpected); ok && node != nil && node.Name == "chat" {
		if help, ok := asMessage(word, args); ok {
			return app.Text("%s", app.Sentence(errors.New(text))).With(help)
		}
	}
	path := "agent-chatter"
	if node != nil {
		path = commandPath(node, args)
	}
	return app.Message{Text: app.Sentence(errors.New(text)) + "\n" + helpText(path)}
}

// The beginnings of errors of kong.
const (
	unexpected  = "unexpected argument "
	unknownFlag = "unknown flag "
)

// suggestion returns the flag or the command that is most similar to the word that an error names.
func suggestion(text string, c *kong.Context) (string, bool) {
	if flag, ok := strings.CutPrefix(text, unknownFlag); ok {
		node := c.Selected()
		if node == nil {
			node = c.Model.Node
		}
		if node.DefaultCmd != nil {
			node = node.DefaultCmd
		}
		var names []string
		for _, f := range slices.Concat(node.AllFlags(true)...) {
			names = append(names, "--"+f.Name)
		}
		return hint.Nearest(flag, names)
	}
	word, ok := strings.CutPrefix(text, unexpected)
	if !ok {
		return "", false
	}
	var names []string
	for _, step := range c.Path {
		if node := step.Node(); node != nil {
			for _, child := range node.Children {
				if !child.Hidden {
					names = append(names, child.Name)
				}
			}
		}
	}
	return hint.Nearest(word, names)
}

// asMessage returns the command that sends the words of the command line as a message.
func asMessage(first string, args []string) (app.Help, bool) {
	start := slices.Index(args, first)
	if start < 0 {
		return app.Help{}, false
	}
	end := start
	for end < len(args) && !strings.HasPrefix(args[end], "-") {
		end++
	}
	before, after := args[:start], args[end:]
	if limit := rounds(before); limit != nil { // -r is --resume here
		before = slices.Concat([]string{"chat"}, limit)
	}
	if limit := rounds(after); limit != nil {
		after = limit
	}
	argv := slices.Concat(before, []string{"-m", strings.Join(args[start:end], " ")}, after)
	return app.To("send it as a message", argv...), true
}

// commandPath returns the words of a command, without the name of a default subcommand if args do not have it.
func commandPath(node *kong.Node, args []string) string {
	if node.Parent == nil {
		return node.Name
	}
	if node.Parent.DefaultCmd == node && !slices.Contains(args, node.Name) {
		return commandPath(node.Parent, args)
	}
	return commandPath(node.Parent, args) + " " + node.Name
}

// WithHelp returns the error of a command. If it is a usage error that names no command that helps, the text names
// the help of the command.
func WithHelp(err error, node *kong.Node, args []string) error {
	var exit *app.ExitError
	if !errors.As(err, &exit) || exit.Code != app.ExitUsage || len(exit.Help) > 0 || exit.Text == "" {
		return err
	}
	return app.Exit(exit.Code, app.Message{Text: exit.Text + "\n" + helpText(commandPath(node, args))})
}

// SetJSON makes a command that was parsed print JSON lines. Of a command without them, it is a usage error.
func SetJSON(node *kong.Node) error {
	i := slices.IndexFunc(node.Flags, setsJSON)
	if i < 0 {
		return app.UsageError("%s prints no JSON lines, so it has no --json.", commandPath(node, []string{node.Name}))
	}
	node.Flags[i].Target.SetString("json")
	return nil
}

// setsJSON reports whether a flag can make its command print JSON lines.
func setsJSON(f *kong.Flag) bool {
	return (f.Name == "output" || f.Name == "format") && slices.Contains(f.EnumSlice(), "json")
}

// PrintsJSON reports whether SetJSON can make a command, or one of its subcommands, print JSON lines.
func PrintsJSON(node *kong.Node) bool {
	return slices.ContainsFunc(node.Flags, setsJSON) || slices.ContainsFunc(node.Children, PrintsJSON)
}

func helpText(command string) string {
	return fmt.Sprintf("For help, type: %s --help", tty.SafeLine(command))
}
