package agent_test

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

func TestRecognize(t *testing.T) {
	for _, tt := range []struct {
		command string
		args    []string
		want    string
	}{
		{"claude", nil, "claude"},
		{"/opt/bin/claude", []string{"--verbose"}, "claude"},
		{"gemini", nil, "gemini"},
		{"gemini.exe", nil, "gemini"},
		{"gemini", []string{"--debug", "--acp"}, "gemini-acp"},
		{"opencode", []string{"acp"}, "opencode"},
		{"opencode", nil, ""},
		{"claude-agent-acp", nil, "claude-acp"},
		{"awk", []string{"acp"}, ""},
		{"", nil, ""},
	} {
		got, ok := agent.Recognize(tt.command, tt.args)
		if got.Name != tt.want || ok != (tt.want != "") {
			t.Errorf("%s %v is %q, want %q", tt.command, tt.args, got.Name, tt.want)
		}
	}
}

func TestKnownAgentsRecognizeThemselves(t *testing.T) {
	for _, k := range agent.KnownAgents() {
		if got, _ := agent.Recognize(k.Program, k.Args); got.Name != k.Name {
			t.Errorf("%s is taken for %q", k.Name, got.Name)
		}
		if (k.LoggedIn != nil) != (k.Name == "claude" || k.Name == "codex") {
			t.Errorf("whether %s is logged in is found out by %q", k.Name, k.LoggedIn)
		}
		if k.DisplayName == "" || k.Engine == "" || k.Install == nil || k.Login.Advice == "" {
			t.Errorf("something is not known of %+v", k)
		}
	}
}

func TestRuns(t *testing.T) {
	for command, want := range map[string]bool{
		"claude": false, "/opt/codex": false, "gemini": true, "/opt/gemini": true, "opencode": true,
		"claude-agent-acp": true, "my-own-server": true, "": true,
	} {
		if got := agent.Runs("acp", command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

// The engine of the manual is registered in echo_test.go.
func TestRegisteredEngineIsFoundAndRuns(t *testing.T) {
	if info := agent.ForType("echo"); info.Name != "echo" {
		t.Errorf("members of its type have the engine %q", info.Name)
	}
	var got []agent.Event
	for e, err := range agent.Engines()["echo"].Run(t.Context(), agent.Turn{Said: agent.Said{Text: "hello"}}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	if len(got) != 1 || got[0] != (agent.Text{Text: "hello"}) {
		t.Errorf("it yields %+v", got)
	}
}
