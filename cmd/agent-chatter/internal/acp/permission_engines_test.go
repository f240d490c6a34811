package acp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// engineTeam writes a team with one member, whose engine runs a stand-in for its agent.
func engineTeam(t *testing.T, home, engine string) string {
	t.Helper()
	stand := map[string]func() agent.Member{
		"claude": func() agent.Member { return agenttest.ClaudeMember(t.TempDir()) },
		"codex":  func() agent.Member { return agenttest.CodexMember() },
		"gemini": func() agent.Member { return agenttest.Member() },
		"acp":    func() agent.Member { return agenttest.Member() },
	}[engine]()
	writeTeam(t, home, stand.Command, stand.Env, "ada")
	path := filepath.Join(home, "team-config", "crew.json")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(content, &file); err != nil {
		t.Fatal(err)
	}
	ada := file["team"].(map[string]any)["members"].([]any)[1].(map[string]any)
	ada["engine"], ada["permissions"] = engine, "ask"
	if content, err = json.Marshal(file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return "crew"
}

// An agent does what the user of the editor allows it, and nothing that is refused, cancelled, or not answered when
// the editor ends.
func TestPermissionsOfEveryEngine(t *testing.T) {
	for _, engine := range []string{"claude", "codex", "gemini", "acp"} {
		for _, tt := range []struct {
			way  string
			made bool
			by   projection.Decider
		}{
			{allowOnce, true, projection.ByPerson},
			{allowSession, true, projection.ByPerson},
			{rejectOnce, false, projection.ByPerson},
			{"unknown", false, projection.ByDefault},
			{"cancel", false, projection.ByDefault},
			{"end", false, projection.ByDefault},
		} {
			t.Run(engine+" "+tt.way, func(t *testing.T) {
				home, file := t.TempDir(), filepath.Join(t.TempDir(), "made")
				e := start(t, home, engineTeam(t, home, engine))
				asked, ended := make(chan struct{}, 9), make(chan sdk.StopReason, 1)
				e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
					asked <- struct{}{}
					if tt.way == "cancel" || tt.way == "end" {
						select {} // the user does not answer
					}
					return sdk.NewRequestPermissionOutcomeSelected(sdk.PermissionOptionId(tt.way))
				}
				id := e.begin()
				go func() {
					r, _ := e.Prompt(t.Context(), promptOf(id, "touch "+file))
					ended <- r.StopReason
				}()
				<-asked
				switch tt.way {
				case "cancel":
					if err := e.Cancel(t.Context(), sdk.CancelNotification{SessionId: id}); err != nil {
						t.Fatal(err)
					}
				case "end":
					e.input.Close()
				}
				<-ended
				if tt.way == allowSession { // the same is not asked again
					e.say(id, "touch "+file, sdk.StopReasonEndTurn)
				}
				if tt.way != "end" {
					e.input.Close()
				}
				if err := <-e.ended; err != nil {
					t.Error(err)
				}
				_, err := os.Stat(file)
				if answer := lastAnswer(t, home, id); (err == nil) != tt.made || answer.Allowed != tt.made || answer.By != tt.by ||
					len(asked) != 0 {
					t.Errorf("made: %t; recorded %+v; asked %d times more", err == nil, answer, len(asked))
				}
			})
		}
	}
}
