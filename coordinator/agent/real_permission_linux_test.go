package agent_test

import (
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A real agent over ACP changes nothing that the permissions of the member do not allow, in every session of its
// program and in a new one, and everything that they allow.
func TestRealPermissionsOverACP(t *testing.T) {
	withReal(t, agenttest.Real.SpeaksACP, func(
		t *testing.T, a agenttest.Real, e agent.Engine, turn agent.Turn, model *agenttest.Model,
	) {
		for i, tt := range []struct {
			permissions string
			grant       agent.Grant
			escalate    bool // Codex asks only for what has to leave its sandbox
			made        bool
		}{
			{agent.Deny, agent.Refused, false, false},
			{agent.Deny, agent.Refused, true, false},
			{agent.Ask, agent.Refused, true, false},
			{agent.Ask, agent.AllowedOnce, true, true},
			{agent.Deny, agent.Refused, true, false},
			{agent.ReadOnly, agent.Refused, false, false},
			{agent.Edit, agent.Refused, true, false},
			{agent.Allow, agent.AllowedOnce, false, true},
			{agent.Deny, agent.Refused, false, false}, // after Allow, in the same program or another
		} {
			if i == 4 { // as when a chat is resumed
				e.(agent.Resident).Close()
			}
			model.Escalate = tt.escalate
			turn.ID += "-again"
			turn.Member.Permissions = tt.permissions
			got := actWith(t, e, turn, tt.grant, "tool <<touch FILE>>")
			t.Logf("%d %s, answer %v: %+v", i, tt.permissions, tt.grant, got)
			if got.made != tt.made || len(got.bypassed) > 0 || tt.made && got.err != nil {
				t.Errorf("%d %s, answer %v: %+v", i, tt.permissions, tt.grant, got)
			}
			if tt.permissions != agent.Allow && got.asked == 0 && (a.Name != "codex over ACP" || tt.escalate) {
				t.Errorf("%d %s: it did not ask", i, tt.permissions)
			}
		}
	})
}
