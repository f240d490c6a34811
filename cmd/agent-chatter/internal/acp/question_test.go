package acp

import (
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/projection"
)

const (
	askWood = `use [["elicitation/create",{"mode":"form","message":"What shall it be?","requestedSchema":{"required":["a"],` +
		`"properties":{"a":{"type":"string","title":"Which wood?","enum":["oak","pine"]},` +
		`"b":{"type":"array","title":"For what?","items":{"enum":["bed","door"]}}}}}]]`
	askText = `use [["elicitation/create",{"mode":"form","message":"Why?","requestedSchema":{"required":["a"],` +
		`"properties":{"a":{"type":"string"}}}}]]`
)

// The questions of a member are requests for permission, whose options are the answers. What needs a text cannot be
// answered. Only Deny decides without the user.
func TestQuestionsAreAskedOfTheUser(t *testing.T) {
	for _, tt := range []struct {
		name, permissions, prompt string
		choose                    []sdk.PermissionOptionId
		shown, reply              string
	}{
		{
			"options", "", askWood, []sdk.PermissionOptionId{"choice_2", "choice_1"},
			"Ada asks (1 of 2): Which wood?\n  What shall it be?\n  1. oak\n  2. pine\n" +
				"Ada asks (2 of 2): For what?\n  1. bed\n  2. door\n" + textOneAnswer,
			`{"action":"accept","content":{"a":"pine","b":["bed"]}}`,
		},
		{
			"allow", "allow", askWood, []sdk.PermissionOptionId{"choice_1", "skip"}, "Which wood?",
			`{"action":"accept","content":{"a":"oak"}}`,
		},
		{"refused", "", askWood, []sdk.PermissionOptionId{"choice_2", "reject"}, "For what?", `{"action":"decline"}`},
		{"unknown", "", askWood, []sdk.PermissionOptionId{"choice_3"}, "Which wood?", `{"action":"decline"}`},
		{"skipped", "", askWood, []sdk.PermissionOptionId{"skip"}, "Which wood?", `{"action":"decline"}`},
		{"number", "", askWood, []sdk.PermissionOptionId{"choice_-1"}, "Which wood?", `{"action":"decline"}`},
		{"text", "", askText, nil, "", `{"action":"decline"}`},
		{"deny", "deny", askWood, nil, "", `{"action":"decline"}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			e := start(t, home, fakeTeam(t, home, "ada"))
			var shown []string
			e.answer = func(r sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
				shown = append(shown, r.ToolCall.Content[0].Content.Content.Text.Text)
				if len(shown) > len(tt.choose) {
					t.Errorf("asked %q", shown)
					return sdk.NewRequestPermissionOutcomeCancelled()
				}
				return sdk.NewRequestPermissionOutcomeSelected(tt.choose[len(shown)-1])
			}
			id := e.begin()
			if tt.permissions != "" {
				e.choose(id, permissions, tt.permissions)
			}
			e.say(id, tt.prompt, sdk.StopReasonEndTurn)
			e.end()
			if !strings.Contains(strings.Join(shown, "\n"), tt.shown) || len(shown) != len(tt.choose) ||
				!strings.Contains(e.text(), tt.reply) {
				t.Errorf("shown %q; the reply is %q", shown, e.text())
			}
			answered := lastAnswer(t, home, id)
			if len(answered.Questions) == 0 || answered.Allowed != strings.Contains(tt.reply, "accept") {
				t.Errorf("recorded %+v", answered)
			}
		})
	}
}

// lastAnswer returns the last permission.answered of a session.
func lastAnswer(t *testing.T, home string, id sdk.SessionId) (last projection.PermissionAnswered) {
	t.Helper()
	for _, p := range payloads(t, home, id) {
		if answered, ok := p.(projection.PermissionAnswered); ok {
			last = answered
		}
	}
	return last
}
