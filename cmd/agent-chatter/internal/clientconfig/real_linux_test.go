package clientconfig_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/cli"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/clientconfig"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// A realAgent lists its MCP servers, and starts them for that if it checks them.
type realAgent struct {
	name     string
	settings string // the file of its home that has Setup.Text without a shell
	checks   bool
	env      []string
}

var realAgents = []realAgent{
	{name: "claude", settings: ".mcp.json", env: []string{"DISABLE_AUTOUPDATER=1"}, checks: true},
	{name: "codex", settings: ".codex/config.toml"},
	{name: "gemini", settings: ".gemini/settings.json", env: []string{"GEMINI_CLI_TRUST_WORKSPACE=true"}, checks: true},
}

// program is the name under which this test is the program itself.
const program = "agent-chatter"

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == program {
		cli.Main()
	}
	os.Exit(m.Run())
}

// hostile is the name of a directory with characters that a shell and the formats of the agents do not take for
// themselves.
const hostile = `it's "the" ${HOME} of $HOME \n`

// TestRealAgentsReadTheirSetup pastes the Setup of each agent into a shell, and into a file in the home of another user.
// The agent then starts the program with the arguments that it was to have, whatever characters they have.
func TestRealAgentsReadTheirSetup(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	for _, agent := range realAgents {
		t.Run(agent.name, func(t *testing.T) {
			t.Parallel()
			for name, shell := range map[string]bool{"shell": true, "file": false} {
				home, c, started := recorder(t)
				setup := clientconfig.MCP(agent.name, c, shell)
				if shell {
					agent.run(t, home, "bash", "-c", setup.Text)
				} else {
					agent.writeSettings(t, home, setup.Text)
				}
				if listed := agent.run(t, home, agent.name, "mcp", "list", "--json"); !agent.checks {
					checkListed(t, name, listed, c)
				} else if got := started(); !slices.Equal(got, c.Args) {
					t.Errorf("%s: started with %q, want %q; it listed %s", name, got, c.Args, listed)
				}
			}
		})
	}
}

// TestRealAgentsConnect pastes what the program prints. Codex connects to no server to list it.
func TestRealAgentsConnect(t *testing.T) {
	agenttest.SkipUnlessReal(t)
	for _, agent := range realAgents {
		if !agent.checks {
			continue
		}
		t.Run(agent.name, func(t *testing.T) {
			t.Parallel()
			home := agentHome(t)
			self, err := os.Executable()
			if err != nil {
				t.Fatal(err)
			}
			bin := filepath.Join(home, hostile)
			if err := errors.Join(os.Mkdir(bin, 0o755), os.Symlink(self, filepath.Join(bin, program))); err != nil {
				t.Fatal(err)
			}
			setup := agent.run(t, home, filepath.Join(bin, program), "--home", bin, "mcp", "--print-config", agent.name)
			agent.run(t, home, "bash", "-c", setup)
			listed := agent.run(t, home, agent.name, "mcp", "list", "--json")
			if !strings.Contains(listed, "Connected") || strings.Contains(listed, "Disconnected") {
				t.Errorf("after %s it listed %s", setup, listed)
			}
		})
	}
}

// agentHome returns a new home.
func agentHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "agent-home-") // not t.TempDir: agents may still write there after they have exited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	return home
}

// recorder returns a new home and a Command in it. started returns the arguments with which it was started first.
func recorder(t *testing.T) (home string, c clientconfig.Command, started func() []string) {
	t.Helper()
	home = agentHome(t)
	dir := filepath.Join(home, hostile)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(home, "started")
	c = clientconfig.Command{
		Path: filepath.Join(dir, "agent-chatter"),
		Args: []string{"--home", dir + "\n\tü", "mcp", "--team", "$PATH ${PATH}"},
	}
	script := "#!/bin/sh\n[ -e " + record + " ] || printf '%s\\0' \"$@\" > " + record + "\n"
	if err := os.WriteFile(c.Path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return home, c, func() []string {
		text, err := os.ReadFile(record)
		if err != nil {
			return nil
		}
		return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
	}
}

// writeSettings writes the file of an agent in its home. Claude Code asks the user before it starts the servers of a
// file in the directory of a project.
func (a realAgent) writeSettings(t *testing.T, home, text string) {
	t.Helper()
	files := map[string]string{a.settings: text}
	if a.name == "claude" {
		files[".claude/settings.json"] = `{"enableAllProjectMcpServers": true}`
	}
	for name, text := range files {
		path := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// run runs a program in the home of an agent, and returns what it printed.
func (a realAgent) run(t *testing.T, home string, argv ...string) string {
	t.Helper()
	bin := filepath.Dir(programtest.NodeModule(t, ".bin/"+a.name))
	if argv[0] == a.name {
		argv[0] = filepath.Join(bin, a.name)
		if a.checks {
			argv = argv[:len(argv)-1] // it knows no --json
		}
	}
	cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	cmd.Dir = home
	cmd.Env = append(os.Environ(), "HOME="+home, "PATH="+bin+":"+os.Getenv("PATH"), "NO_COLOR=1")
	cmd.Env = append(cmd.Env, a.env...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil {
		t.Fatalf("%q: %v: %s%s", argv, err, printed, stderr.String())
	}
	if len(printed) == 0 {
		return stderr.String() // Gemini CLI lists there
	}
	return string(printed)
}

// checkListed checks the command of the only server in the JSON of Codex.
func checkListed(t *testing.T, name, listed string, want clientconfig.Command) {
	t.Helper()
	var servers []struct {
		Transport struct {
			Command string
			Args    []string
		}
	}
	if err := json.Unmarshal([]byte(listed), &servers); err != nil || len(servers) != 1 {
		t.Fatalf("%s: %v in %s", name, err, listed)
	}
	if got := servers[0].Transport; got.Command != want.Path || !slices.Equal(got.Args, want.Args) {
		t.Errorf("%s: lists %q, want %q", name, got, want)
	}
}
