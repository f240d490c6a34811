package agent_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// withRealGemini runs a test with Gemini CLI as it is installed. Processes that are left running fail the test.
func withRealGemini(t *testing.T, test func(t *testing.T, e *agent.ACP, turn agent.Turn, model *agenttest.Model)) {
	isGemini := func(a agenttest.Real) bool { return a.Engine == "gemini" }
	withReal(t, isGemini, func(t *testing.T, _ agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model) {
		test(t, e.(*agent.ACP), turn, model)
	})
}

// Gemini CLI changes nothing that the permissions of the member do not allow, and everything that they allow, also if
// arguments of the member allow everything.
func TestRealGeminiPermissions(t *testing.T) {
	const touch = "tool <<touch FILE>>"
	yolo := []string{"--approval-mode", "yolo"}
	withRealGemini(t, func(t *testing.T, e *agent.ACP, turn agent.Turn, _ *agenttest.Model) {
		for _, tt := range []struct {
			permissions string
			args        []string
			grant       agent.Grant
			asked       int
			made        bool
		}{
			{agent.Deny, nil, agent.Refused, 1, false},
			{agent.Deny, yolo, agent.Refused, 1, false},
			{agent.ReadOnly, yolo, agent.Refused, 1, false},
			{agent.Ask, nil, agent.Refused, 1, false},
			{agent.Ask, []string{"-y"}, agent.Refused, 1, false},
			{agent.Ask, nil, agent.AllowedOnce, 1, true},
			{agent.Edit, []string{"--yolo"}, agent.Refused, 1, false},
			{agent.Allow, nil, agent.AllowedOnce, 1, true},
			{agent.Bypass, nil, agent.AllowedOnce, 1, true},
			{"", nil, agent.Refused, 1, false},
			{"", []string{"--yolo"}, agent.Refused, 0, true},
			{"", yolo, agent.Refused, 0, true},
			{"", []string{"--approval-mode", "auto_edit"}, agent.Refused, 1, false},
			{"", []string{"-m", "gemini-2.5-flash"}, agent.AllowedOnce, 1, true},
		} {
			turn.ID += "-again"
			turn.Member.Permissions, turn.Member.Args = tt.permissions, tt.args
			got := actWith(t, e, turn, tt.grant, touch)
			if got.made != tt.made || got.asked != tt.asked || got.err != nil || len(got.bypassed) > 0 {
				t.Errorf("%+v: %+v", tt, got)
			}
		}
	})
}

// The settings of the user do not widen what a member may do that must not be asked: the turn is stopped.
func TestRealGeminiPermissionsAreNotWidened(t *testing.T) {
	withRealGemini(t, func(t *testing.T, e *agent.ACP, turn agent.Turn, _ *agenttest.Model) {
		file := filepath.Join(turn.Member.Env["HOME"], ".gemini", "settings.json")
		settings := `{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"defaultApprovalMode":"auto_edit"}}`
		if err := os.WriteFile(file, []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, permissions := range []string{agent.Deny, agent.ReadOnly, agent.Ask, ""} {
			turn.ID += "-again"
			turn.Member.Permissions = permissions
			got := actWith(t, e, turn, agent.Refused, `call <<write_file {"file_path":"FILE","content":"oak"}>>`)
			if got.made || got.asked != 1 || got.err != nil {
				t.Errorf("%q: %+v", permissions, got)
			}
		}
	})
}

// A session remembers its turns until its program ends; it cannot be resumed.
func TestRealGeminiSessions(t *testing.T) {
	withRealGemini(t, func(t *testing.T, e *agent.ACP, turn agent.Turn, model *agenttest.Model) {
		turn.Member.Permissions = agent.Ask
		s, err := e.Open(within(t), turn, agent.Origin{})
		if err != nil {
			t.Fatal(err)
		}
		for _, prompt := range []string{"an oak; say <<one>>", "a birch-and-elm; say <<two>>"} {
			turn.Prompt = prompt
			for _, err := range s.Turn(within(t), turn) {
				if err != nil {
					t.Error(err)
				}
			}
		}
		requests := model.Bodies()
		last := requests[len(requests)-1]
		if !strings.Contains(last, "an oak; say") || !strings.Contains(last, "a birch-and-elm") || !s.Alive() {
			t.Errorf("the second request is %s, alive: %t", last, s.Alive())
		}
		s.Close()
		for _, way := range []agent.Way{agent.Resume, agent.Fork} {
			if _, err := e.Open(within(t), turn, agent.Origin{Way: way, ID: s.ID()}); !errors.Is(err, agent.ErrUnsupported) {
				t.Errorf("way %d: got %v", way, err)
			}
		}
	})
}
