package acp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/projection"
)

// choose sets an option and returns the current values of all.
func (e *testEditor) choose(id sdk.SessionId, option, value string) (map[string]string, error) {
	r, err := e.SetSessionConfigOption(e.t.Context(), sdk.SetSessionConfigOptionRequest{
		ValueId: &sdk.SetSessionConfigOptionValueId{
			SessionId: id, ConfigId: sdk.SessionConfigId(option), Value: sdk.SessionConfigValueId(value),
		},
	})
	current := map[string]string{}
	for _, o := range r.ConfigOptions {
		current[string(o.Select.Id)] = string(o.Select.CurrentValue)
	}
	return current, err
}

func TestOptions(t *testing.T) {
	home := t.TempDir()
	team := fakeTeam(t, home, "ada", "bob")
	e := start(t, home, "")
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		t.Error("the user was asked")
		return sdk.NewRequestPermissionOutcomeCancelled()
	}
	id := e.begin()
	for _, set := range []struct{ option, value, wrong string }{
		{"team", team, "gone"}, {"rounds", "1", "-1"}, {"permissions", "allow", "sometimes"}, {"model:bob", "", "-x"},
	} {
		if set.value != "" {
			if current, err := e.choose(id, set.option, set.value); err != nil || current[set.option] != set.value {
				t.Errorf("%s: %v, %v", set.option, current, err)
			}
		}
		if _, err := e.choose(id, set.option, set.wrong); !refused(err, -32602, "") {
			t.Errorf("%s=%s: %v", set.option, set.wrong, err)
		}
	}
	e.say(id, "ask ls", sdk.StopReasonEndTurn)
	e.say(id, "[NEXT: ada] [NEXT: bob]\nsay x", sdk.StopReasonMaxTurnRequests)
	if _, err := e.choose(id, "team", "demo"); !refused(err, -32602, "cannot be changed") {
		t.Errorf("another team: %v", err)
	}
	if _, err := e.choose(id, "rounds", "5"); err != nil {
		t.Error(err)
	}
	e.say(id, "say x", sdk.StopReasonEndTurn)
	e.end()
	var limits []int
	for _, p := range payloads(t, home, id) {
		switch p := p.(type) {
		case projection.SessionCreated:
			limits = append(limits, p.MaxRounds)
		case projection.SessionResumed:
			limits = append(limits, p.MaxRounds)
		}
	}
	if !slices.Equal(limits, []int{1, 5}) {
		t.Errorf("the limits of turns are %v", limits)
	}
}

func TestCommands(t *testing.T) {
	home := t.TempDir()
	e := start(t, home, "")
	id := e.begin()
	e.await(func(updates []sdk.SessionNotification) bool {
		return slices.ContainsFunc(updates, func(n sdk.SessionNotification) bool {
			return n.Update.AvailableCommandsUpdate != nil
		})
	})
	if _, err := e.Prompt(t.Context(), promptOf(id, "/rename x")); !refused(err, -32602, "no messages") {
		t.Errorf("a title without a session: %v", err)
	}
	if _, err := e.Prompt(t.Context(), promptOf(id, "/retry")); !refused(err, -32602, "nothing to retry") {
		t.Errorf("a retry of nothing: %v", err)
	}
	if _, err := e.Prompt(t.Context(), promptOf(id, "/members of it")); !refused(err, -32602, "takes no argument") {
		t.Errorf("an argument that is ignored: %v", err)
	}
	e.say(id, "/members", sdk.StopReasonEndTurn)
	e.say(id, "/task win", sdk.StopReasonEndTurn)
	e.say(id, "/etc/hosts", sdk.StopReasonEndTurn)
	long := "/rename " + strings.Repeat("x", 501)
	if _, err := e.Prompt(t.Context(), promptOf(id, long)); !refused(err, -32602, "at most 500 characters") {
		t.Errorf("a long title: %v", err)
	}
	e.say(id, "/rename Hosts", sdk.StopReasonEndTurn)
	e.end()
	for _, want := range []string{"@planner", "Team task: win", "/etc/hosts"} {
		if !strings.Contains(e.text(), want) {
			t.Errorf("%q is not in\n%s", want, e.text())
		}
	}
	found, err := find(t.Context(), newApp(t, home), id)
	if err != nil || found.Title != "Hosts" {
		t.Errorf("the title is %q, %v", found.Title, err)
	}
}
