package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// A permitted is what came of a turn of an agent that wants to create a file.
type permitted struct {
	asked    int  // requests for permission
	made     bool // the file
	later    bool // the agent went on after it had bypassed the permissions
	bypassed []agent.Bypassed
	err      error
}

// actIn runs a turn with permissions and an answer to all requests. FILE in the prompt is a file that is not there.
func actIn(t *testing.T, permissions string, grant agent.Grant, prompt string, habits ...agenttest.Habit) permitted {
	t.Helper()
	e := &agent.ACP{Grace: 5 * time.Second, Start: never}
	t.Cleanup(e.Close)
	turn := acpTurn(t, "", habits...)
	turn.Member.Permissions = permissions
	return actWith(t, e, turn, grant, prompt)
}

func actWith(t *testing.T, e agent.Engine, turn agent.Turn, grant agent.Grant, prompt string) (got permitted) {
	t.Helper()
	dir, err := os.MkdirTemp(turn.Dir, "work-")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "file")
	turn.Prompt = strings.ReplaceAll(prompt, "FILE", file)
	asked := make(chan struct{}, 100)
	turn.Permit = func(ctx context.Context, _ agent.Permission) agent.Grant {
		asked <- struct{}{}
		return grant
	}
	for event, err := range e.Run(within(t), turn) {
		if b, ok := event.(agent.Bypassed); ok {
			got.bypassed = append(got.bypassed, b)
		}
		got.err = err
	}
	got.asked = len(asked)
	_, err = os.Stat(file)
	got.made = err == nil
	_, err = os.Stat(file + "-later")
	got.later = err == nil
	return got
}

func TestACPAsksInTheModeOfThePermissions(t *testing.T) {
	auto := []agenttest.Habit{agenttest.Auto}
	option := []agenttest.Habit{agenttest.Auto, agenttest.ModeOption}
	for _, habits := range [][]agenttest.Habit{nil, auto, option} {
		for _, permissions := range []string{"", agent.Ask, agent.Deny, agent.Allow, agent.ReadOnly, agent.Edit} {
			for _, grant := range []agent.Grant{agent.Refused, agent.AllowedOnce} {
				got := actIn(t, permissions, grant, "touch FILE", habits...)
				if got.asked != 1 || got.made != (grant.Scope == agent.Once) || got.err != nil {
					t.Errorf("%v, permissions %q, answer %v: %+v", habits, permissions, grant, got)
				}
			}
		}
	}
}

func TestACPModeIsSetInEverySession(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "", agenttest.Auto)
	turn.Member.Permissions = agent.Deny
	for range 3 {
		if got := actWith(t, e, turn, agent.Refused, "touch FILE"); got.asked != 1 || got.made {
			t.Errorf("got %+v", got)
		}
		turn.ID += "-again"
	}
}

// reasonOf returns the reason of a failure and its remedy; "" if the turn did not fail so.
func reasonOf(err error) string {
	failure, ok := errors.AsType[*agent.FailureError](err)
	if !ok {
		return ""
	}
	return failure.Detail()
}

func TestACPTurnFailsWithoutModeThatAsks(t *testing.T) {
	for _, tt := range []struct {
		name   string
		habits []agenttest.Habit
		reason string
	}{
		{"no modes", []agenttest.Habit{agenttest.Modeless}, "it has no modes"},
		{"no known one", []agenttest.Habit{agenttest.OtherModes}, "only careful, bold"},
		{"one that it does not enter", []agenttest.Habit{agenttest.Auto, agenttest.ModeOption, agenttest.Staying},
			`does not confirm the mode "default": it reports "auto"`},
		{"one that it reports to have left", []agenttest.Habit{agenttest.Auto, agenttest.Staying}, `it reports "auto"`},
	} {
		for _, permissions := range []string{"", agent.Ask, agent.Deny, agent.ReadOnly, agent.Edit} {
			got := actIn(t, permissions, agent.AllowedOnce, "touch FILE", tt.habits...)
			reason := reasonOf(got.err)
			if tt.name == "no modes" && permissions == "" {
				if got.err != nil || got.asked != 1 {
					t.Errorf("an agent without modes, no permissions: %+v", got)
				}
				continue
			}
			if got.made || !strings.Contains(reason, tt.reason) || !strings.Contains(reason, `"permissions" to "allow"`) {
				t.Errorf("%s, permissions %q: %+v", tt.name, permissions, got)
			}
		}
		if got := actIn(t, agent.Allow, agent.AllowedOnce, "touch FILE", tt.habits...); got.err != nil && !got.made {
			t.Errorf("%s, allowed: %+v", tt.name, got)
		}
	}
}

// An agent that does what it must not do, and says so, is stopped before it does more.
func TestACPStopsAgentThatDoesNotAsk(t *testing.T) {
	option := []agenttest.Habit{agenttest.ModeOption}
	for _, tt := range []struct {
		name        string
		prompt      string
		habits      []agenttest.Habit
		permissions string
		bypassed    bool
		reason      string
	}{
		{"unasked", "sneak FILE", nil, agent.Deny, true, "without permission: touch "},
		{"unasked, read", "sneak FILE", nil, agent.ReadOnly, true, "without permission: touch "},
		{"claims the mode", "touch FILE", []agenttest.Habit{agenttest.Auto, agenttest.ModeOption, agenttest.Claiming},
			agent.Deny, true, "without permission"},
		{"edit as an other", `updates [{"sessionUpdate":"tool_call","toolCallId":"x","kind":"other","status":"completed",` +
			`"content":[{"type":"diff","path":"/a","newText":"b"}]}]`, nil, agent.Deny, true, "without permission"},
		{"kind told late", `updates [{"sessionUpdate":"tool_call","toolCallId":"x","kind":"delete"},` +
			`{"sessionUpdate":"tool_call_update","toolCallId":"x","kind":"read","status":"completed"}]`, nil, agent.Deny,
			true, "without permission"},
		{"after the result", `after [{"sessionUpdate":"tool_call","toolCallId":"x","kind":"move","status":"completed"}]`,
			nil, agent.Deny, true, "without permission"},
		{"refused", "defy FILE", nil, agent.Ask, true, "without permission: touch "},
		{"mode", "mode auto FILE", nil, agent.Ask, false, "changed its mode to “auto”"},
		{"mode, as an option", "mode auto FILE", option, agent.Ask, false, "changed its mode to “auto”"},
		{"mode, edit", "mode auto FILE", option, agent.Edit, false, "changed its mode to “auto”"},
	} {
		got := actIn(t, tt.permissions, agent.Refused, tt.prompt, tt.habits...)
		if len(got.bypassed) > 0 != tt.bypassed || got.later || !strings.Contains(reasonOf(got.err), tt.reason) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
}

func TestACPStopsAgentThatDoesNotWaitForAnswer(t *testing.T) {
	e, turn := &agent.ACP{Grace: 5 * time.Second, Start: never}, acpTurn(t, "")
	t.Cleanup(e.Close)
	file := filepath.Join(t.TempDir(), "file")
	turn.Prompt = "hurry " + file
	turn.Permit = func(ctx context.Context, _ agent.Permission) agent.Grant {
		<-ctx.Done()
		return agent.Refused
	}
	_, err := reply(within(t), e, turn)
	if !strings.Contains(reasonOf(err), "without permission") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(file + "-later"); err == nil {
		t.Error("it went on")
	}
}

// What the agent says of itself is all that is known.
func TestACPBelievesWhatToolsAre(t *testing.T) {
	if got := actIn(t, agent.Deny, agent.Refused, "disguise FILE"); got.err != nil || len(got.bypassed) > 0 || !got.made {
		t.Errorf("got %+v", got)
	}
	if got := actIn(t, agent.Ask, agent.Refused, "mode plan FILE"); !strings.Contains(reasonOf(got.err), "plan") {
		t.Errorf("an unknown agent may change to any mode: %+v", got)
	}
}

// A program that has not done what it should is not used again.
func TestACPEndsAgentThatDidNotAsk(t *testing.T) {
	e, turn := newACP(t), acpTurn(t, "say hi")
	turn.Member.Permissions = agent.Deny
	before := where(t, e, nextTurn(turn, "where"))
	if got := actWith(t, e, turn, agent.Refused, "sneak FILE"); got.err == nil {
		t.Fatal("it was not stopped")
	}
	turn.ID += "-2"
	if after := where(t, e, nextTurn(turn, "where")); after.process == before.process {
		t.Error("the same program runs the next turn")
	}
}

func TestACPStopsOpenCodeWithoutConfiguration(t *testing.T) {
	turn := acpTurn(t, "env OPENCODE_CONFIG_CONTENT")
	turn.Member.AgentType = "opencode"
	for _, tt := range []struct{ before, permissions, want string }{
		{"", agent.Deny, `{"agent":{"build":{"permission":{"bash":"ask","edit":"ask","external_directory":"ask"}}},` +
			`"permission":{"bash":"ask","edit":"ask","external_directory":"ask"}}`},
		{`{"model":"a/b","permission":"allow","agent":{"build":{"model":"c/d"}}}`, agent.Ask,
			`{"agent":{"build":{"model":"c/d","permission":{"bash":"ask","edit":"ask","external_directory":"ask"}}},` +
				`"model":"a/b","permission":{"bash":"ask","edit":"ask","external_directory":"ask"}}`},
		{`{"model":"a/b"}`, agent.Allow, `{"model":"a/b"}`},
		{"{} // none", agent.Ask, ""},
	} {
		e := newACP(t)
		turn.Member.Permissions = tt.permissions
		turn.Member.Env["OPENCODE_CONFIG_CONTENT"] = tt.before
		got, err := reply(within(t), e, turn)
		if got != tt.want || (tt.want == "") != (err != nil) {
			t.Errorf("%q, %s: got\n%s, %v, want\n%s", tt.before, tt.permissions, got, err, tt.want)
		}
	}
}
