package team_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/schemas"
)

// Any team file is either a valid team or an error that names the file and every problem.
func FuzzTeamFile(f *testing.F) {
	home := registered(f, `"known": {"name": "known", "command": "./bin/known", "args": ["-x"]}`)
	path := filepath.Join(f.TempDir(), "team.json")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := team.Load(path, home)
		if err != nil {
			checkRefused(t, err, "team file "+path+": ")
			return
		}
		if loaded.ID == "" || loaded.DisplayName == "" || loaded.MaxRounds < 0 || loaded.MaxAgentResponseTime <= 0 ||
			loaded.Source.Path != path {
			t.Errorf("the team is %+v", loaded)
		}
		for _, kind := range []string{team.Human, team.AI} {
			if !slices.ContainsFunc(loaded.Members, func(m team.Member) bool { return m.Type == kind }) {
				t.Errorf("no member has the type %s", kind)
			}
		}
		seen := map[string]bool{}
		for _, m := range loaded.Members {
			if m.ID == "" || m.ID != m.Name || seen[m.ID] || !filepath.IsAbs(m.BaseDir) {
				t.Errorf("a member is %+v", m)
			}
			seen[m.ID] = true
			if m.Type == team.AI && m.EngineName() == "command" {
				checkStartable(t, m.Command)
			}
		}
	})
}

// Any registry is either a sorted list of runnable agents or an error that names the file.
func FuzzRegistry(f *testing.F) {
	home := registered(f, "")
	path := filepath.Join(home, "agents", "config.json")
	f.Fuzz(func(t *testing.T, content []byte) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		agents, err := team.RegisteredAgents(home)
		if err != nil {
			checkRefused(t, err, "agent registry "+path+": ")
			return
		}
		if !slices.IsSortedFunc(agents, func(a, b team.Agent) int { return strings.Compare(a.Name, b.Name) }) {
			t.Errorf("the agents are not sorted: %v", agents)
		}
		for _, a := range agents {
			checkStartable(t, a.Command)
		}
	})
}

func checkStartable(t *testing.T, command string) {
	t.Helper()
	if command == "" || strings.ContainsRune(command, os.PathSeparator) && !filepath.IsAbs(command) {
		t.Errorf("the command is %q", command)
	}
}

func checkRefused(t *testing.T, err error, prefix string) {
	t.Helper()
	if !strings.HasPrefix(err.Error(), prefix) {
		t.Errorf("the error is %v", err)
	}
	if invalid := (*schemas.InvalidError)(nil); errors.As(err, &invalid) && len(invalid.Problems) == 0 {
		t.Errorf("the error has no problems: %v", err)
	}
}
