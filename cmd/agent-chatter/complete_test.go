package main

import (
	"io"
	"slices"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/completion"
	"github.com/alecthomas/kong"
)

// freeValues are arguments with free text.
var freeValues = []string{
	"message", "max-rounds", "from", "to", "at", "speed", "n", "keep", "archive-after", "delete-after", "older-than", "limit",
	"text", "speaker", "since", "title", "display-name", "timeout", "with-model", "words", "rounds", "model", "log-level",
}

func TestEveryArgumentHasACompletion(t *testing.T) {
	var c cli
	parser, err := kong.New(&c, kong.Vars{"version": app.Version}, kong.Writers(io.Discard, io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range append(parser.Model.Leaves(false), parser.Model.Node) {
		values := slices.Clone(node.Positional)
		for _, f := range node.Flags {
			values = append(values, f.Value)
		}
		for _, v := range values {
			_, known := completion.Completed[completion.NameOf(v)]
			if !known && !v.IsBool() && v.Enum == "" && !slices.Contains(freeValues, v.Name) {
				t.Errorf("%s: there is no completion of %q", node.FullPath(), v.Name)
			}
		}
	}
}
