package acp

import (
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/projection"
)

// What commands change is recorded, and holds when the client chooses other options.
func TestMemberCommands(t *testing.T) {
	home := t.TempDir()
	team := fakeTeam(t, home, "ada", "bob")
	e := start(t, home, "")
	asked := 0
	e.answer = func(sdk.RequestPermissionRequest) sdk.RequestPermissionOutcome {
		asked++
		return sdk.NewRequestPermissionOutcomeCancelled()
	}
	id := e.begin()
	if _, err := e.choose(id, "team", team); err != nil {
		t.Fatal(err)
	}
	for text, part := range map[string]string{
		"/permissions ada allow": "only in a chat on this machine", "/permissions ada edit": "only in a chat on this machine",
		"/model zoe m": "no agent 'zoe'", "/remove": "Type /remove MEMBER",
	} {
		if _, err := e.Prompt(t.Context(), promptOf(id, text)); !refused(err, -32602, part) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := e.choose(id, "permissions", "allow"); err != nil {
		t.Error(err)
	}
	e.say(id, "/permissions ada deny", sdk.StopReasonEndTurn)
	e.say(id, "/model bob m2", sdk.StopReasonEndTurn)
	e.say(id, "/remove bob", sdk.StopReasonEndTurn)
	e.say(id, "/model", sdk.StopReasonEndTurn)
	for range 2 {
		e.say(id, "ask ls", sdk.StopReasonEndTurn)
		if _, err := e.choose(id, "rounds", "5"); err != nil { // the team is set again
			t.Error(err)
		}
	}
	e.end()
	if asked > 0 {
		t.Errorf("the user was asked %d times", asked)
	}
	for _, want := range []string{"ada: permissions deny", "bob: model m2", "bob: removed", "ada: default"} {
		if !strings.Contains(e.text(), want) {
			t.Errorf("%q is not in\n%s", want, e.text())
		}
	}
	var allowed []bool
	for _, p := range payloads(t, home, id) {
		if p, ok := p.(projection.PermissionAnswered); ok {
			allowed = append(allowed, p.Allowed)
		}
	}
	if len(allowed) < 2 || slices.Contains(allowed, true) {
		t.Errorf("allowed: %v", allowed)
	}
	again := start(t, home, "")
	r, err := again.LoadSession(t.Context(), sdk.LoadSessionRequest{SessionId: id, Cwd: t.TempDir(), McpServers: []sdk.McpServer{}})
	if err != nil {
		t.Fatal(r, err)
	}
	again.say(id, "/members", sdk.StopReasonEndTurn)
	again.end()
	if text := again.text(); strings.Contains(text, "@bob") || !strings.Contains(text, "@ada") {
		t.Errorf("after the end:\n%s", text)
	}
}
