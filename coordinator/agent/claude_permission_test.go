package agent_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// inClaude runs a turn with permissions and an answer to all requests. FILE in the prompt is a file that is not there.
func inClaude(
	t *testing.T, permissions string, grant agent.Grant, prompt string, habits ...agenttest.Habit,
) permitted {
	t.Helper()
	turn := claudeTurn(t, habits...)
	turn.Member.Permissions = permissions
	return actWith(t, patientClaude, turn, grant, prompt)
}

func TestClaudeAsksAsThePermissionsSay(t *testing.T) {
	for _, habits := range [][]agenttest.Habit{nil, {agenttest.Auto}} {
		for _, permissions := range []string{"", agent.Ask, agent.Deny, agent.Allow, agent.ReadOnly} {
			for _, grant := range []agent.Grant{agent.Refused, agent.AllowedOnce} {
				if permissions == "" && habits != nil {
					continue // it is its own configuration
				}
				got := inClaude(t, permissions, grant, "touch FILE", habits...)
				if got.asked != 1 || got.made != (grant.Scope == agent.Once) || got.err != nil {
					t.Errorf("%v, permissions %q, answer %v: %+v", habits, permissions, grant, got)
				}
			}
		}
	}
}

// What settings allow is asked for only if nothing else is to be done.
func TestClaudeOverridesRules(t *testing.T) {
	for permissions, asks := range map[string]bool{
		"": false, agent.Ask: false, agent.Deny: true, agent.Allow: false, agent.ReadOnly: true,
	} {
		got := inClaude(t, permissions, agent.Refused, "touch FILE", agenttest.AllowsTouch)
		if (got.asked == 1) != asks || got.made == asks || got.err != nil {
			t.Errorf("permissions %q: %+v", permissions, got)
		}
	}
}

func TestClaudeMustSupportPermissions(t *testing.T) {
	for permissions, want := range map[string]string{
		agent.Deny: "it cannot be made to ask for everything", agent.ReadOnly: "it cannot be made to ask for everything",
		agent.Ask: "", agent.Allow: "", "": "",
	} {
		got := inClaude(t, permissions, agent.Refused, "say fine", agenttest.Unaware)
		if (got.err == nil) != (want == "") || want != "" && !strings.Contains(got.err.Error(), want) {
			t.Errorf("permissions %q: %v", permissions, got.err)
		}
	}
}

func TestClaudeIsStoppedIfItDoesNotAsk(t *testing.T) {
	for _, tt := range []struct {
		permissions, prompt string
		grant               agent.Grant
		stopped             bool
	}{
		{agent.Deny, "sneak FILE", agent.Refused, true},
		{agent.ReadOnly, "sneak FILE", agent.Refused, true},
		{agent.Ask, "sneak FILE", agent.Refused, false}, // its settings may allow it
		{"", "sneak FILE", agent.Refused, false},
		{agent.Ask, "defy FILE", agent.Refused, true},
		{"", "defy FILE", agent.Refused, true},
		{agent.Ask, "defy FILE", agent.AllowedOnce, false},
	} {
		got := inClaude(t, tt.permissions, tt.grant, tt.prompt)
		if !got.made || got.later == tt.stopped || (len(got.bypassed) == 1) != tt.stopped || (got.err != nil) != tt.stopped {
			t.Errorf("%s, permissions %q, answer %v: %+v", tt.prompt, tt.permissions, tt.grant, got)
		}
		if tt.stopped && (got.bypassed[0] != agent.Bypassed{ToolID: "t1", Tool: got.bypassed[0].Tool, Title: got.bypassed[0].Title} ||
			!strings.Contains(got.err.Error(), "without permission")) {
			t.Errorf("%s: %+v", tt.prompt, got)
		}
	}
}

func TestClaudeIsStoppedIfItChangesItsMode(t *testing.T) {
	for _, tt := range []struct {
		permissions, mode string
		stopped           bool
	}{
		{agent.Ask, "bypassPermissions", true}, {agent.Ask, "acceptEdits", true}, {agent.Ask, "plan", false},
		{agent.Ask, "manual", false}, {agent.Deny, "auto", true}, {agent.ReadOnly, "default", true},
		{agent.Edit, "default", false}, {agent.Edit, "auto", true}, {agent.Allow, "auto", false}, {"", "auto", false},
		{agent.Bypass, "auto", false},
	} {
		turn := claudeTurn(t)
		turn.Member.Permissions = tt.permissions
		s := openClaude(t, turn, agent.Origin{})
		got := actWith(t, s, turn, agent.Refused, "mode "+tt.mode)
		if (got.err != nil) != tt.stopped || s.Alive() == tt.stopped {
			t.Errorf("%q, %s: %+v; alive: %t", tt.permissions, tt.mode, got, s.Alive())
		}
		if tt.stopped && !strings.Contains(got.err.Error(), "it changed its mode to “"+tt.mode+"”") {
			t.Errorf("%q, %s: %v", tt.permissions, tt.mode, got.err)
		}
		if tt.mode == "plan" {
			if where, _ := says(t, s, turn, "where"); !strings.HasSuffix(where, " default") {
				t.Errorf("in the next turn it is in another mode: %s", where)
			}
		}
	}
}

func TestClaudeMustEnterMode(t *testing.T) {
	got := inClaude(t, agent.Ask, agent.Refused, "touch FILE", agenttest.Auto, agenttest.Staying)
	if got.err == nil || got.made {
		t.Errorf("it stays in another mode: %+v", got)
	}
}
