package cli

import (
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
)

func TestPanicIsNoExit(t *testing.T) {
	defer func() {
		if reason := recover(); reason != "a defect" {
			t.Errorf("Run panics with %v", reason)
		}
	}()
	defect := func(string) string { panic("a defect") }
	code := Run([]string{"--home", t.TempDir(), "chat", "-m", "hello"}, app.IO{
		Stdin: os.Stdin, Stdout: io.Discard, Stderr: io.Discard, NetworkFS: defect,
	})
	t.Errorf("Run returns %d", code)
}

// Only the commands that the arguments name are built, which must not change what the arguments mean.
func TestNamedCommandsAreParsedLikeAll(t *testing.T) {
	quiet := app.IO{Stdout: io.Discard, Stderr: io.Discard}
	for _, args := range [][]string{
		{"chat"},
		{"chat", "--resume", "7QN3", "-m", "sessions"},
		{"--home", "chat", "sessions", "list", "--limit", "3"},
		{"sessions"},
		{"sessions", "ls", "--json"},
		{"--offline", "--hub", "hub", "hub", "status"},
		{"guide", "team"},
		{"team", "init", "--agents", "agents"},
		{"replay", "mcp"},
		{"__complete", "--", "ch"},
		{"completion", "bash"},
	} {
		var some, all commandLine
		command, err := parse(&some, args, quiet)
		if err != nil {
			t.Errorf("%q: %v", args, err)
			continue
		}
		want, err := newParser(&all, commands, quiet).Parse(args)
		if err != nil {
			t.Fatal(err)
		}
		values := func(c *kong.Context) any { return c.Selected().Target.Interface() }
		if command.Command() != want.Command() || !reflect.DeepEqual(values(command), values(want)) ||
			!reflect.DeepEqual(some, all) {
			t.Errorf("%q: %s %+v, %+v; want %s %+v, %+v", args,
				command.Command(), values(command), some, want.Command(), values(want), all)
		}
	}
}

// TestHelpFitsATerminal also checks that --help and no arguments print the same.
func TestHelpFitsATerminal(t *testing.T) {
	for _, test := range []struct {
		args string
		all  bool
	}{{"", false}, {"--help", false}, {"-h", false}, {"--no-color --help", false}, {"--help --all", true}, {"--all -h", true}} {
		var stdout, stderr strings.Builder
		code := Run(strings.Fields(test.args), app.IO{Stdout: &stdout, Stderr: &stderr})
		all := strings.Contains(stdout.String(), "\n  sessions reindex ") && strings.Contains(stdout.String(), "--log-file")
		if code != 0 || all != test.all || !test.all && stdout.String() != textHelp {
			t.Errorf("%s: exit code %d, %s\n%s", test.args, code, stderr.String(), stdout.String())
		}
	}
	if n := strings.Count(textHelp, "\n"); n > 24 {
		t.Errorf("--help has %d lines", n)
	}
	for line := range strings.Lines(textHelp) {
		if len(line) > 80 {
			t.Errorf("--help has a line of %d columns: %s", len(line)-1, line)
		}
	}
}

// TestHelpNamesCommands looks for the help of each command that the text names.
func TestHelpNamesCommands(t *testing.T) {
	named := regexp.MustCompile(`(?m)agent-chatter ((?: ?[a-z]+)+)`).FindAllStringSubmatch(textHelp, -1)
	if len(named) < 10 {
		t.Errorf("it names %q", named)
	}
	for _, m := range named {
		var stdout, stderr strings.Builder
		words := strings.Fields(strings.TrimSuffix(m[1], " latest"))
		code := Run(append(words, "--help"), app.IO{Stdout: &stdout, Stderr: &stderr})
		if usage := "Usage: agent-chatter " + strings.Join(words, " "); code != 0 || !strings.HasPrefix(stdout.String(), usage) {
			t.Errorf("%s: exit code %d\n%.200s%s", words, code, stdout.String(), stderr.String())
		}
	}
}
