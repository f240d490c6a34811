package cli

import (
	"bytes"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// freeForm are the flags and arguments whose values cannot be listed.
var freeForm = []string{
	"panel",
	"message", "max-rounds", "from", "to", "at", "x", "speed", "n", "keep", "archive-after", "delete-after",
	"older-than", "limit", "text", "speaker", "since", "title", "display-name", "timeout", "with-model", "words", "rounds", "model", "query",
	"log-level", "addr", "serve", "http", "hub", "keep", "replicas", "identity", "encrypt-to",
}

// printed runs a command, and returns what it prints.
func printed(t *testing.T, home string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := Run(append([]string{"--home", home}, args...), app.IO{Stdin: os.Stdin, Stdout: &stdout, Stderr: &stderr})
	if code != app.ExitDone {
		t.Fatalf("%v ends with %d: %s", args, code, stderr.String())
	}
	return stdout.String()
}

// words returns the words of a command, without the names that are as good.
func words(node *kong.Node) []string {
	if node.Parent == nil {
		return nil
	}
	return append(words(node.Parent), node.Name)
}

func TestEveryArgumentHasACompletion(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	for _, message := range []string{"kept", "deleted"} {
		printed(t, home, "chat", "-m", message)
	}
	printed(t, home, "sessions", "delete", "latest", "--yes")
	if _, _, err := devices.Open(home).Add(t.Context(), "phone", devices.Grant{Role: web.RoleRead}, ""); err != nil {
		t.Fatal(err)
	}

	var c commandLine
	parser := newParser(&c, commands, app.IO{Stdout: io.Discard, Stderr: io.Discard})
	for _, node := range append(parser.Model.Leaves(false), parser.Model.Node) {
		command := append([]string{"__complete", "--"}, words(node)...)
		check := func(v *kong.Value, words ...string) {
			if v.IsBool() || slices.Contains(freeForm, v.Name) {
				return
			}
			if printed(t, home, slices.Concat(command, words, []string{""})...) == "" {
				t.Errorf("%v %v: nothing completes %q", command[2:], words, v.Name)
			}
		}
		for _, f := range node.Flags {
			check(f.Value, "--"+f.Name)
		}
		for i, argument := range node.Positional {
			check(argument, slices.Repeat([]string{"latest"}, i)...)
		}
	}
}
