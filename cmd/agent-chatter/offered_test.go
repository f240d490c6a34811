package main

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

// An offered command, and a word of it that is in quotes.
var (
	offered = regexp.MustCompile(`, type: agent-chatter (.*)\n`)
	quoted  = regexp.MustCompile(`\$?'(?:\\.|[^'\\])*'`)
)

// TestOfferedCommandsAreValid runs the commands that the texts of the program offer with
// an empty home. None may be rejected as a usage error.
func TestOfferedCommandsAreValid(t *testing.T) {
	racetest.SkipSequential(t)
	values := strings.NewReplacer("FORMAT", "auto")
	commands := map[string]string{}
	err := filepath.WalkDir("internal", func(name string, d fs.DirEntry, err error) error {
		// The samples of usage are of another command line.
		if err != nil || d.Name() != "messages.golden" || strings.Contains(filepath.ToSlash(name), "internal/usage/") {
			return err
		}
		golden, err := os.ReadFile(name)
		for _, found := range offered.FindAllStringSubmatch(string(golden), -1) {
			commands[values.Replace(quoted.ReplaceAllString(found[1], "NAME"))] = name
		}
		return err
	})
	if err != nil || len(commands) == 0 {
		t.Fatal(commands, err)
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer nothing.Close()
	t.Setenv("PATH", "")
	for command, name := range commands {
		t.Chdir(t.TempDir())
		t.Setenv("HOME", t.TempDir())
		var printed bytes.Buffer
		args := append([]string{"--home", t.TempDir()}, strings.Fields(command)...)
		if strings.HasPrefix(command, "serve") { // it would run until a signal
			args = append(args, "--token-file", "missing")
		}
		if code := run(args, app.IO{Stdin: nothing, Stdout: io.Discard, Stderr: &printed}); code == app.ExitUsage {
			t.Errorf("%s: %s: %s", name, command, printed.String())
		}
	}
}
