package manpages

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/usage"
	"github.com/alecthomas/kong"
)

// command returns the page of a command.
func (m Manual) command(node *kong.Node) string {
	w := m.start(pageName(node), "1", node.Help)
	own := node
	if node.DefaultCmd != nil {
		own = node.DefaultCmd // its flags and arguments follow the name of the command, too
	}
	w.macro("SH", "SYNOPSIS")
	w.line(synopsis(node, own))
	w.macro("SH", "DESCRIPTION")
	w.line(escape(node.Help))
	if node.DefaultCmd != nil {
		w.line("Without a command: " + bold(words(node.DefaultCmd)) + ".")
	}
	w.commands(children(node))
	if len(own.Positional) > 0 {
		w.macro("SH", "ARGUMENTS")
		for _, p := range own.Positional {
			w.tagged(`\fI`+escape(p.Name)+`\fR`, valueHelp(p))
		}
	}
	w.flags("OPTIONS", own.Flags)
	if node.Parent != nil {
		w.flags("GLOBAL OPTIONS", slices.DeleteFunc(slices.Clone(m.Commands.Flags), func(f *kong.Flag) bool {
			return f.Name == "json" && !usage.PrintsJSON(node)
		}))
	}
	if examples := strings.TrimPrefix(own.Detail, "Examples:\n"); cmp.Or(node.Detail, examples) != "" {
		w.macro("SH", "EXAMPLES")
		w.literal(undent(strings.TrimPrefix(cmp.Or(node.Detail, examples), "Examples:\n")))
	}
	m.seeAlso(w, node)
	return w.String()
}

func synopsis(node, own *kong.Node) string {
	text := bold(words(node))
	if len(children(node)) > 0 {
		text += ` [\fIcommand\fR]`
	}
	text += ` [\fIflags\fR]`
	for _, p := range own.Positional {
		text += " " + escape(p.Summary())
	}
	return text
}

func (w *writer) commands(nodes []*kong.Node) {
	if len(nodes) == 0 {
		return
	}
	w.macro("SH", "COMMANDS")
	for _, node := range nodes {
		w.tagged(bold(pageName(node))+"(1)", escape(node.Help))
	}
}

func (w *writer) flags(title string, flags []*kong.Flag) {
	flags = slices.DeleteFunc(slices.Clone(flags), func(f *kong.Flag) bool { return f.Hidden })
	if len(flags) == 0 {
		return
	}
	w.macro("SH", title)
	for _, f := range flags {
		term := bold("--" + f.Name)
		if !f.IsBool() {
			term += `=\fI` + escape(strings.Trim(f.FormatPlaceHolder(), `"`)) + `\fR`
		}
		if f.Short != 0 {
			term = bold("-"+string(f.Short)) + ", " + term
		}
		w.tagged(term, valueHelp(f.Value))
	}
}

// valueHelp returns the help of a flag or an argument. A line may end in its lists of values, which have no blanks.
func valueHelp(v *kong.Value) string {
	return strings.ReplaceAll(escape(kong.DefaultHelpValueFormatter(v)), ",", `,\:`)
}

// seeAlso names the commands above and beside this one, and the topic of its name.
func (m Manual) seeAlso(w *writer, node *kong.Node) {
	var pages []string
	if node.Parent != nil {
		pages = append(pages, bold(pageName(node.Parent))+"(1)")
		for _, sibling := range children(node.Parent) {
			if node.Parent.Parent != nil && sibling != node {
				pages = append(pages, bold(pageName(sibling))+"(1)")
			}
		}
	}
	for _, topic := range m.Topics {
		if node.Parent == nil || slices.Contains(strings.Fields(words(node)), topic.Name) {
			pages = append(pages, bold(m.Commands.Name+"-"+topic.Name)+"(7)")
		}
	}
	w.macro("SH", "SEE ALSO")
	w.line(strings.Join(pages, ",\n"))
}

// undent removes the two blanks that begin the lines of examples.
func undent(text string) string {
	return strings.ReplaceAll(strings.TrimPrefix(text, "  "), "\n  ", "\n")
}
