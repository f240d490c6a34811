//go:build unix

package teams_test

import (
	"bytes"
	"context"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/agents"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/teams"
	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// A telegraph is an engine that only this file knows.
type telegraph struct{}

var _ = agent.Register(agent.Info{
	Name: "telegraph", AgentTypes: []string{"telegraph", "morse"}, New: func() agent.Engine { return telegraph{} },
	Models: true, Permissions: []string{agent.ReadOnly, "shout"}, InstructionFile: "MORSE.md",
})

var _ = agent.RegisterAgents(agent.Known{
	Name: "telegraph", DisplayName: "Telegraph", Engine: "telegraph", Program: "telegraph-key",
	Install: []string{"make", "telegraph"},
})

func (telegraph) CommandLine(m agent.Member) []string {
	return []string{"telegraph-key", m.Permissions}
}

func (telegraph) Run(_ context.Context, turn agent.Turn) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		yield(agent.Text{Text: "--- " + turn.Member.Permissions}, nil)
	}
}

// writeTeam writes a team whose agent has the settings.
func writeTeam(t *testing.T, settings string) (path string) {
	path = filepath.Join(t.TempDir(), "team.json")
	err := os.WriteFile(path, []byte(`{"schemaVersion": "1.2", "team": {"name": "office", "members": [
		{"name": "ada", "type": "ai", `+settings+`}, {"name": "you", "type": "human"}]}}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTeamsCanNameARegisteredEngine(t *testing.T) {
	for _, tt := range []struct{ settings, problem string }{
		{`"agentType": "morse", "permissions": "shout"`, ""},
		{`"agentType": "other", "engine": "telegraph"`, ""},
		{`"agentType": "morse", "permissions": "whisper"`, "the engine telegraph knows read, shout"},
		{
			`"agentType": "other", "engine": "telegram"`,
			"the engines are acp, agy, claude, codex, command, demo, gemini, openai, telegraph",
		},
	} {
		loaded, err := team.Load(writeTeam(t, tt.settings), t.TempDir())
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: %v", tt.settings, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		ada, _ := loaded.Member("ada")
		if ada.EngineInfo().Name != "telegraph" {
			t.Errorf("%s: the engine is %s", tt.settings, ada.EngineName())
		}
		if file := filepath.Base(ada.InstructionFile); (file == "MORSE.md") != (ada.AgentType == "morse") {
			t.Errorf("%s: instructions in %s", tt.settings, file)
		}
	}
}

func TestModelsOfARegisteredEngine(t *testing.T) {
	loaded, err := team.Load(writeTeam(t, `"agentType": "morse"`), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a, err := app.New(app.IO{Stdout: new(bytes.Buffer), Stderr: new(bytes.Buffer)}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if models, err := teams.Models(a, loaded, []string{"fast"}); err != nil || models["ada"] != "fast" {
		t.Errorf("%v, %v", models, err)
	}
}

func TestScanAndVerifyKnowARegisteredEngine(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	key := filepath.Join(dir, "telegraph-key")
	if err := os.WriteFile(key, []byte("#!/bin/sh\necho telegraph-key 1.2.3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	i := slices.IndexFunc(agents.InPath(), func(s agents.Scanned) bool { return s.Name == "telegraph" })
	if i < 0 || agents.InPath()[i].Path != key {
		t.Fatalf("scan finds %+v", agents.InPath())
	}
	var out bytes.Buffer
	a, err := app.New(app.IO{Stdout: &out, Stderr: &out}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	registered := team.Agent{Name: "telegraph", Command: "telegraph-key"}
	if err := team.Register(t.Context(), a.Home, registered); err != nil {
		t.Fatal(err)
	}
	var cmd agents.Command
	cmd.Verify.Timeout = 1 << 40
	if err := cmd.Verify.Run(a); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, part := range []string{key + ", version 1.2.3", "answered “--- read”"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("verify prints no %q:\n%s", part, &out)
		}
	}
}
