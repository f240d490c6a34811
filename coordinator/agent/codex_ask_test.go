package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

const (
	askCommand = `ask item/commandExecution/requestApproval {"itemId":"c1","command":"touch a","cwd":"/w","reason":"why",` +
		`"proposedExecpolicyAmendment":["touch"],"availableDecisions":["accept",{"acceptWithExecpolicyAmendment":{}},"cancel"]}`
	startChange = `note item/started {"item":{"id":"f1","type":"fileChange","changes":[` +
		`{"path":"/new","kind":{"type":"add"},"diff":"a\nb\n"},{"path":"/old","kind":{"type":"delete"},"diff":"c\n"},` +
		`{"path":"/mid","kind":{"type":"update","move_path":"/to"},"diff":"@@ -1,2 +1,2 @@\n x\n-y\n+z\n"}]}}` + "\n"
	askChange = `ask item/fileChange/requestApproval {"itemId":"f1"}`
	askTool   = `note item/started {"item":{"id":"m1","type":"mcpToolCall","server":"s","tool":"change","arguments":{}}}
ask mcpServer/elicitation/request {"serverName":"s","message":"Allow?","_meta":{"codex_approval_kind":"mcp_tool_call",` +
		`"tool_name":"change","tool_params":{"a":1},"persist":["session","always"]}}`
	askMore = `ask item/permissions/requestApproval {"itemId":"p1","reason":"the net","permissions":{"network":{"enabled":true}}}`
)

func TestCodexAsks(t *testing.T) {
	session, always := agent.AllowedForSession, agent.AllowedAlways
	for _, tt := range []struct {
		permissions, prompt string
		grant               agent.Grant
		asked, answer       string
	}{
		{agent.Ask, askCommand, agent.Refused, "shell execute c1 “touch a” session, []", `{"decision":"decline"}`},
		{agent.Ask, askCommand, agent.AllowedOnce, "shell execute c1 “touch a” session, []", `{"decision":"accept"}`},
		{agent.Ask, askCommand, session, "shell execute c1 “touch a” session, []", `{"decision":"acceptForSession"}`},
		{agent.Ask, askCommand, always, "shell execute c1 “touch a” session, []", `{"decision":"accept"}`},
		{
			"", askCommand, always, "shell execute c1 “touch a” session, ~/.codex/rules/default.rules []",
			`{"decision":{"acceptWithExecpolicyAmendment":{"execpolicy_amendment":["touch"]}}}`,
		},
		{
			agent.Ask, startChange + askChange, agent.AllowedOnce, "file_change edit f1 “/new, /old, /mid → /to” session, " +
				`[{/new  a|b|} {/old c| } {/mid x|y| x|z|}]`, `{"decision":"accept"}`,
		},
		{agent.Ask, askTool, agent.Refused, "s.change  m1 “Allow?” session, []", `{"action":"decline","content":null}`},
		{agent.Ask, askTool, agent.AllowedOnce, "s.change  m1 “Allow?” session, []", `{"action":"accept","content":{}}`},
		{
			agent.Ask, askTool, session, "s.change  m1 “Allow?” session, []",
			`{"_meta":{"persist":"session"},"action":"accept","content":{}}`,
		},
		{agent.Ask, askMore, agent.Refused, "request_permissions  request 1 “the net” session, []", `{"permissions":{},"scope":"turn"}`},
		{
			agent.Ask, askMore, agent.AllowedOnce, "request_permissions  request 1 “the net” session, []",
			`{"permissions":{"network":{"enabled":true}},"scope":"turn"}`,
		},
		{agent.Ask, `ask mcpServer/elicitation/request {"message":"Name?"}`, agent.AllowedOnce, "", `{"action":"decline"}`},
		{agent.Ask, "ask item/tool/requestUserInput {}", agent.AllowedOnce, "", `{"answers":{}}`},
		{agent.Ask, "ask attestation/generate {}", agent.AllowedOnce, "", "null"},
	} {
		turn := codexTurn(t, tt.prompt)
		turn.Member.Permissions = tt.permissions
		asked := ""
		turn.Permit = func(_ context.Context, p agent.Permission) agent.Grant {
			offered := p.Always
			if p.Session {
				offered = strings.TrimSpace("session, " + offered)
			}
			edits := strings.ReplaceAll(fmt.Sprint(p.Edits), "\n", "|")
			asked = fmt.Sprintf("%s %s %s “%s” %s %s", p.Tool, p.Kind, p.ToolID, p.Title, offered, edits)
			return tt.grant
		}
		answer, err := reply(within(t), patientCodex, turn)
		if asked != tt.asked || answer != tt.answer || err != nil {
			t.Errorf("%.50s: %v\nasked    %s\nwant     %s\nanswered %s\nwant     %s", tt.prompt, err, asked, tt.asked, answer, tt.answer)
		}
	}
}

func TestCodexAsksWithoutPermit(t *testing.T) {
	turn := codexTurn(t, askCommand)
	turn.Permit = nil
	if got := mustReply(t, patientCodex, turn); got != `{"decision":"decline"}` {
		t.Error(got)
	}
}

// A request that is answered elsewhere ends the wait for the answer, and the turn goes on.
func TestCodexWithdrawsRequest(t *testing.T) {
	turn := codexTurn(t, strings.Replace(askCommand, "ask", "withdraw", 1)+"\nhang")
	ctx, cancel := context.WithCancelCause(within(t))
	defer cancel(nil)
	turn.Permit = func(asking context.Context, _ agent.Permission) agent.Grant {
		<-asking.Done()
		if ctx.Err() != nil {
			t.Error("the turn was over before")
		}
		cancel(errCancelled)
		return agent.AllowedOnce
	}
	if got, err := reply(ctx, patientCodex, turn); strings.Contains(got, "decision") || err == nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestCodexIsStoppedWhenItDoesNotAsk(t *testing.T) {
	const change = `item {"id":"f1","type":"fileChange","changes":[{"path":"/a","kind":{"type":"add"},"diff":"x"}],"status":"completed"}`
	const command = `item {"id":"c1","type":"commandExecution","command":"touch a","status":"completed","exitCode":0}`
	for _, tt := range []struct {
		permissions, prompt string
		bypassed            []agent.Bypassed
	}{
		{agent.Deny, change, []agent.Bypassed{{ToolID: "f1", Tool: "file_change", Title: "/a"}}},
		{agent.ReadOnly, change, []agent.Bypassed{{ToolID: "f1", Tool: "file_change", Title: "/a"}}},
		{agent.Ask, change, []agent.Bypassed{{ToolID: "f1", Tool: "file_change", Title: "/a"}}},
		{agent.Edit, change, nil},
		{agent.Deny, command, nil}, // it was in the sandbox
		{agent.Ask, askCommand + "\n" + command, []agent.Bypassed{{ToolID: "c1", Tool: "shell", Title: "touch a"}}},
		{agent.Ask, askCommand + "\n" + strings.Replace(command, `"completed"`, `"declined"`, 1), nil},
	} {
		turn := codexTurn(t, tt.prompt)
		turn.Member.Permissions = tt.permissions
		var got []agent.Bypassed
		var last error
		for event, err := range patientCodex.Run(within(t), turn) {
			if b, ok := event.(agent.Bypassed); ok {
				got = append(got, b)
			}
			last = err
		}
		if diff := cmp.Diff(tt.bypassed, got); diff != "" || (last == nil) != (tt.bypassed == nil) {
			t.Errorf("%s, %s: %v (-want +got):\n%s", tt.permissions, tt.prompt, last, diff)
		}
	}
}
