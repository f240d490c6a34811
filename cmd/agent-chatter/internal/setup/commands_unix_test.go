//go:build unix

package setup

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/vfs"
)

type command interface{ Run(*app.App) error }

// full has every setting of a team and of its members.
const full = `{
  "schemaVersion": "1.2",
  "agents": [{"name": "tool", "command": "/bin/tool", "args": ["--key", "made-up-key-4711", "a b"]}],
  "maxRounds": 0,
  "conversation": {"maxAgentResponseTime": 90000},
  "team": {
    "name": "full", "displayName": "Full", "description": "every setting", "instructionFile": "TEAM.md",
    "members": [
      {"name": "you", "displayName": "You", "role": "human", "type": "human", "baseDir": ".", "systemInstruction": ""},
      {"name": "tool", "displayName": "Tool", "role": "a tool", "type": "ai", "agentType": "tool", "baseDir": "sub",
       "systemInstruction": "be brief", "instructionFile": "TOOL.md", "permissions": "read", "recall": true,
       "env": {"B_KEY": "made-up-key-4711", "A": "$NOT_THERE"}},
      {"name": "api", "displayName": "API", "role": "", "type": "ai", "agentType": "openai", "baseDir": ".",
       "systemInstruction": "", "endpoint": "https://me:word@host/v1", "apiKeyEnv": "NOT_THERE", "model": "m",
       "thinking": true, "headers": {"x-b": "b", "x-a": "a"}},
      {"name": "bot", "displayName": "Bot", "role": "", "type": "ai", "agentType": "claude", "baseDir": ".",
       "systemInstruction": "", "thinking": false, "permissions": "edit", "recall": "all"}
    ]
  }
}`

// golden returns the path of a golden file, in any working directory.
func golden(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// place creates a home and a working directory with teams.
func place(t *testing.T) (home, work string) {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home, work = filepath.Join(root, "home"), filepath.Join(root, "shop")
	for name, content := range map[string]string{
		"home/team-config/broken.json": "{}", "home/team-config/full.json": full,
		"shop/.agent-chatter/team-config/full.json": full, "shop/.agent-chatter/team-config/bad.json": "[]",
	} {
		path := filepath.Join(root, name)
		writeFile(t, path)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
	t.Setenv("HOME", root)
	t.Setenv("PATH", "")
	t.Setenv("AGENT_CHATTER_HOME", home)
	return home, work
}

// run runs a command and returns what it prints and its exit code.
func run(t *testing.T, home string, cmd command) string {
	t.Helper()
	var stdout, stderr strings.Builder
	a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	code := a.Fail(cmd.Run(a))
	printed := fmt.Sprintf("-- stdout --\n%s-- stderr --\n%s-- exit code %d\n", stdout.String(), stderr.String(), code)
	return strings.ReplaceAll(printed, filepath.Dir(home), "ROOT")
}

func TestTeamCommandsPrint(t *testing.T) {
	path := golden(t, "commands.golden")
	home, _ := place(t)
	var printed strings.Builder
	for _, test := range []struct {
		name string
		cmd  command
	}{
		{"list", &TeamList{Output: "text"}},
		{"list --output json", &TeamList{Output: "json"}},
		{"show demo", &teamShow{Team: "demo", Output: "text"}},
		{"show demo --output json", &teamShow{Team: "demo", Output: "json"}},
		{"show full", &teamShow{Team: "full", Output: "text"}},
		{"show full --output json", &teamShow{Team: "full", Output: "json"}},
		{"show broken", &teamShow{Team: "broken", Output: "json"}},
		{"show missing", &teamShow{Team: "missing", Output: "text"}},
		{"validate demo", &teamValidate{File: "demo", Output: "text"}},
		{"validate demo --output json", &teamValidate{File: "demo", Output: "json"}},
		{"validate full", &teamValidate{File: "full", Output: "text"}},
		{"validate full --output json", &teamValidate{File: "full", Output: "json"}},
		{"validate bad", &teamValidate{File: "bad", Output: "text"}},
		{"validate bad --output json", &teamValidate{File: "bad", Output: "json"}},
		{"init full", &teamInit{File: "full"}},
		{"init .agent-chatter/team-config/full.json", &teamInit{File: ".agent-chatter/team-config/full.json"}},
		{"init demo", &teamInit{File: "demo"}},
		{"init new --agents eve,claude", &teamInit{File: "new", Agents: []string{"eve", "claude"}}},
	} {
		fmt.Fprintf(&printed, "# team %s\n%s\n", test.name, run(t, home, test.cmd))
	}
	apptest.Golden(t, path, printed.String())
	if _, err := os.Lstat(".agent-chatter/team-config/new.json"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a team of unknown agents was written: %v", err)
	}
}

// Only teams that are not valid are followed by how to see why.
func TestListOfValidTeamsHasNoNotice(t *testing.T) {
	home, work := place(t)
	for _, name := range []string{
		filepath.Join(home, "team-config", "broken.json"), filepath.Join(work, localTeams, "bad.json"),
	} {
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if got := run(t, home, &TeamList{Output: "text"}); !strings.HasSuffix(got, "\n-- stderr --\n-- exit code 0\n") {
		t.Errorf("it printed\n%s", got)
	}
}

func TestTeamCommandsWithFullOutput(t *testing.T) {
	for _, test := range []struct {
		name string
		cmd  command
	}{
		{"list", &TeamList{Output: "text"}},
		{"list --output json", &TeamList{Output: "json"}},
		{"show", &teamShow{Team: "demo", Output: "text"}},
		{"show --output json", &teamShow{Team: "demo", Output: "json"}},
		{"validate", &teamValidate{File: "demo", Output: "text"}},
		{"validate --output json", &teamValidate{File: "demo", Output: "json"}},
		{"init", &teamInit{File: "new", Agents: []string{"demo"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			place(t)
			apptest.FullOutput(t, func(string) {}, func(home string, _ vfs.FS, stdout, stderr io.Writer) error {
				a, err := app.New(app.IO{Stdout: stdout, Stderr: stderr}, app.Options{Home: home})
				if err != nil {
					t.Fatal(err)
				}
				return test.cmd.Run(a)
			})
		})
	}
}

func TestTeamIsNotWritten(t *testing.T) {
	for _, test := range []struct {
		name    string
		file    string
		prepare func(t *testing.T, home, work string)
	}{
		{"with an invalid registry", "new", func(t *testing.T, home, _ string) {
			writeFile(t, filepath.Join(home, "agents", "config.json"))
		}},
		{"below a file", "file/new.json", func(t *testing.T, _, work string) {
			writeFile(t, filepath.Join(work, "file"))
		}},
		{"below a file of the home", "../home/file/new.json", func(t *testing.T, home, _ string) {
			writeFile(t, filepath.Join(home, "file"))
		}},
		{"with a name that is too long", strings.Repeat("x", 300) + ".json", func(*testing.T, string, string) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			home, work := place(t)
			test.prepare(t, home, work)
			got := run(t, home, &teamInit{File: test.file, Agents: []string{"demo"}})
			if !strings.HasPrefix(got, "-- stdout --\n-- stderr --\n") || !strings.HasSuffix(got, "-- exit code 1\n") {
				t.Errorf("it printed\n%s", got)
			}
		})
	}
}

// A team of the home is private; another one, as in a repository, is not.
func TestNewTeamIsWritten(t *testing.T) {
	path := golden(t, "team.golden")
	home, work := place(t)
	before := syscall.Umask(0)
	defer syscall.Umask(before)
	d := draft{name: "new", description: "agents & <you>", agents: []string{"claude"}, human: "mia", maxRounds: 3}
	for _, test := range []struct {
		path, argument string
		baseDir        string
		mode           fs.FileMode
	}{
		{filepath.Join(home, "teams", "new.json"), filepath.Join(home, "teams", "new.json"), "../../shop", 0o700},
		{filepath.Join(work, "teams", "new.json"), filepath.Join("teams", "new.json"), "..", 0o755},
		{filepath.Join(work, localTeams, "new.json"), "new", "../..", 0o755},
		{filepath.Join(work, "full.json"), "full.json", ".", 0o755},
		{filepath.Join(work, "a", "b", "c", "new.json"), filepath.Join("a", "b", "c", "new.json"), work, 0o755},
	} {
		var stdout, stderr strings.Builder
		a, err := app.New(app.IO{Stdout: &stdout, Stderr: &stderr}, app.Options{Home: home})
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Base(filepath.Dir(test.path)) == "team-config" {
			if err := os.RemoveAll(filepath.Join(work, ".agent-chatter")); err != nil {
				t.Fatal(err)
			}
		}
		if err := writeTeam(t.Context(), a, test.path, d); err != nil || stdout.String() != test.path+"\n" {
			t.Errorf("%s: %v, it printed %q", test.path, err, stdout.String())
		}
		if want := "To chat with the team, type: agent-chatter chat -t " + test.argument + "\n" +
			"To verify its agents, type: agent-chatter agents verify -t " + test.argument + "\n"; stderr.String() != want {
			t.Errorf("%s: it printed\n%s\nwant\n%s", test.path, stderr.String(), want)
		}
		content, err := os.ReadFile(test.path)
		if err != nil {
			t.Fatal(err)
		}
		apptest.Golden(t, path, strings.ReplaceAll(string(content), fmt.Sprintf("%q", test.baseDir), `"BASE"`))
		if dir := filepath.Dir(test.path); dir != work {
			if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != test.mode {
				t.Errorf("%s: %v, %v, want %v", dir, info.Mode(), err, test.mode)
			}
		}
	}
}

// A program counts once, under the first of its names. Without any program, there is the demo.
func TestFoundAgentsAreThePrograms(t *testing.T) {
	home, work := place(t)
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ programs, found string }{
		{"", "demo"}, {"claude", "claude"}, {"gemini", "gemini"}, {"claude codex gemini opencode", "claude codex gemini opencode"},
	} {
		bin := filepath.Join(work, "bin"+test.programs)
		for name := range strings.FieldsSeq(test.programs) {
			writeFile(t, filepath.Join(bin, name))
			if err := os.Chmod(filepath.Join(bin, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", bin)
		c, err := findAgents(a)
		if got := strings.Join(c.found, " "); err != nil || got != test.found {
			t.Errorf("%q: found %q, %v, want %q; others %q", test.programs, got, err, test.found, c.more)
		}
	}
}
