package completion

import (
	"fmt"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/alecthomas/kong"
)

// Complete is the hidden command __complete. It prints the completions of the last
// word, one a line: the text, a tab and a description. The line ":files" asks the shell
// to complete names of files.
type Complete struct {
	Shell string   `help:"Calling shell." enum:"bash,zsh,fish" default:"fish"`
	Words []string `arg:"" optional:"" help:"Words after the program name; completes the last."`
}

// Run implements the command.
func (cmd *Complete) Run(a *app.App, k *kong.Kong) error {
	words := cmd.Words
	fixed := "" // the part of the last word that the shell does not replace
	if cmd.Shell == "bash" {
		words, fixed = bashWords(words)
	}
	if len(words) == 0 {
		words = []string{""}
	}
	l := &commandLine{app: a, node: k.Model.Node}
	for _, word := range words[:len(words)-1] {
		l.take(word)
	}
	last := words[len(words)-1]
	found, files := l.candidates(last)
	for _, c := range found {
		if text, ok := strings.CutPrefix(c.text, fixed); ok {
			fmt.Fprintf(a.Stdout, "%s\t%s\n", text, tty.SafeLine(c.what))
		}
	}
	if files {
		fmt.Fprintln(a.Stdout, ":files")
	}
	return nil
}
