package usage

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/alecthomas/kong"
)

// usageTexts renders each text of the package with sample values.
func usageTexts(t *testing.T) []apptest.Text {
	var texts []apptest.Text
	add := func(function, sample string, shown any) {
		texts = append(texts, apptest.Text{Function: function, Sample: sample, Shown: shown})
	}
	add("helpText", "", helpText("agent-chatter chat"))
	add("explain", "anything else", Explain(errors.New(apptest.Hostile), nil))
	for _, line := range []struct {
		sample string
		args   []string
	}{
		{"a misspelled command", []string{"caht"}},
		{"a misspelled subcommand", []string{"sessions", "shwo", "latest"}},
		{"an argument of a default subcommand", []string{"sessions", "7QN3"}},
		{"an argument of a subcommand", []string{"sessions", "list", "7QN3"}},
		{"a misspelled flag", []string{"sessions", "--limt", "3"}},
		{"a flag of no command", []string{"--" + apptest.Hostile}},
		{"a command of no name", []string{apptest.Hostile}},
		{"an integer", []string{"sessions", "--limit", apptest.Hostile}},
		{"a number", []string{"chat", "--speed", "fast"}},
		{"a level", []string{"--level", "loud", "chat"}},
		{"a duration", []string{"chat", "--wait", "long"}},
		{"no value", []string{"chat", "--speed"}},
		{"no duration", []string{"chat", "--wait"}},
		{"no integer", []string{"sessions", "--limit"}},
		{"no days", []string{"sessions", "--age"}},
		{"no days of a pointer", []string{"sessions", "--until"}},
		{"negative days", []string{"sessions", "--until", "-1d"}},
		{"a misspelled hidden flag", []string{"chat", "--trac"}},
		{"a list elsewhere", []string{"--list-sessions"}},
		{"a clean-up elsewhere", []string{"--clean-sessions", "--older-than", "30d"}},
		{"a clean-up without an age", []string{"--clean-sessions"}},
		{"a fork elsewhere", []string{"--resume", "--fork-at-round", "15"}},
		{"a fork without a round", []string{"--fork-at-round"}},
		{"a comparison elsewhere", []string{"--diff", "one", apptest.Hostile}},
		{"a merge elsewhere", []string{"--merge=one", "two"}},
		{"a replay elsewhere", []string{"--replay", "one"}},
		{"a replay with a model elsewhere", []string{"--replay", "one", "--with-model", "small"}},
		{"a resumption elsewhere", []string{"--continue"}},
		{"an instruction", []string{"build it", "-r", "10"}},
		{"rounds elsewhere", []string{"chat", "build it", "-r", "10"}},
		{"words", []string{"chat", "hello", "world", "--speed", "2"}},
		{"hostile words", []string{"--level", "info", "chat", apptest.Hostile}},
	} {
		add("explain", line.sample, Explain(parse(t, line.args), line.args))
	}
	return texts
}

func TestUsageTexts(t *testing.T) { apptest.CheckTexts(t, usageTexts(t)) }

func TestCorrectCommandLineIsParsed(t *testing.T) {
	until := home.Days(36 * time.Hour)
	for _, test := range []struct {
		args []string
		want func(*commandLine)
	}{
		{[]string{"chat", "--speed", "-1.5", "--wait", "3s"}, func(c *commandLine) {
			c.Chat.Speed, c.Chat.Wait = -1.5, 3*time.Second
		}},
		{[]string{"--level", "info", "sessions", "--limit", "-1"}, func(c *commandLine) {
			c.Level, c.Sessions.List.Limit = "info", -1
		}},
		{[]string{"sessions", "ls"}, func(*commandLine) {}},
		{[]string{"sessions", "list", "--age", "7d", "--until", "36h"}, func(c *commandLine) {
			c.Sessions.List.Age, c.Sessions.List.Until = home.Days(7*24*time.Hour), &until
		}},
	} {
		var got, want commandLine
		want.Level, want.Sessions.Export.Format = "warn", "md"
		want.Sessions.List.Input, want.Sessions.List.Output = "text", "text"
		test.want(&want)
		k, err := kong.New(&got, append(Decoders(), kong.Name("agent-chatter"))...)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := k.Parse(test.args); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v, want %+v", test.args, got, err, want)
		}
	}
}

func TestWordsOfACommandLineAsAMessage(t *testing.T) {
	for _, test := range []struct {
		first string
		args  []string
		want  []string // nil: none
	}{
		{"hello", []string{"hello", "world", "--speed", "2"}, []string{"-m", "hello world", "--speed", "2"}},
		{"hello", []string{"chat", "hello"}, []string{"chat", "-m", "hello"}},
		{"hello", []string{"chat", "--hello"}, nil},
	} {
		got, ok := asMessage(test.first, test.args)
		if ok != (test.want != nil) || !slices.Equal(got.Command.Argv, test.want) {
			t.Errorf("%q: %q, %v, want %q", test.args, got.Command.Argv, ok, test.want)
		}
	}
}

func TestUsageErrorNamesHelp(t *testing.T) {
	k := parser(t)
	c, err := k.Parse([]string{"sessions", "list"})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{app.UsageError("--limit is odd."), "--limit is odd.\nFor help, type: agent-chatter sessions list --help"},
		{app.Exit(app.ExitFailed, app.Text("It failed.")), "It failed."},
		{&app.ExitError{Code: app.ExitUsage}, ""},
		{
			app.Exit(app.ExitUsage, app.Text("Which?").With(app.To("list them", "sessions"))),
			"Which?\nTo list them, type: agent-chatter sessions",
		},
	} {
		if got := WithHelp(test.err, c.Selected(), []string{"sessions", "list"}).Error(); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
	if err := WithHelp(nil, c.Selected(), nil); err != nil {
		t.Error(err)
	}
}

func TestJSONIsAnOutputOrAFormat(t *testing.T) {
	for _, test := range []struct {
		args                  []string
		input, output, format string
		refused               bool
	}{
		{args: []string{"sessions"}, input: "text", output: "json", format: "md"},
		{args: []string{"sessions", "list", "--output", "text"}, input: "text", output: "json", format: "md"},
		{args: []string{"sessions", "export"}, input: "text", output: "text", format: "json"},
		{args: []string{"sessions", "show", "x"}, input: "text", output: "text", format: "md", refused: true},
		{args: []string{"chat"}, input: "text", output: "text", format: "md", refused: true},
	} {
		var cli commandLine
		k, err := kong.New(&cli, append(Decoders(), kong.Name("agent-chatter"))...)
		if err != nil {
			t.Fatal(err)
		}
		c, err := k.Parse(test.args)
		if err != nil {
			t.Fatal(err)
		}
		err = SetJSON(c.Selected())
		list := cli.Sessions.List
		if (err != nil) != test.refused || PrintsJSON(c.Selected()) == test.refused || list.Input != test.input || list.Output != test.output ||
			cli.Sessions.Export.Format != test.format {
			t.Errorf("%q: %v, %+v", test.args, err, cli.Sessions)
		}
	}
}

func parser(t *testing.T) *kong.Kong {
	t.Helper()
	var cli commandLine
	k, err := kong.New(&cli, append(Decoders(), kong.Name("agent-chatter"))...)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// parse returns the error of a command line.
func parse(t *testing.T, args []string) error {
	t.Helper()
	_, err := parser(t).Parse(args)
	return err
}
