package acptest_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/acp/acptest"
)

func newRecording(t *testing.T) *acptest.Recording {
	t.Helper()
	r, err := acptest.NewRecording()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// conversation are the lines of a connection, each after the side that writes it.
var conversation = []string{
	`client {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}`,
	`agent {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}`,
	`client {"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`,
	`agent {"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}`,
	`client {"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[{"type":"text","text":"hello"}]}}`,
	`agent {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}}}`,
	`agent {"jsonrpc":"2.0","id":"a","method":"session/request_permission","params":{"sessionId":"s","options":[{"optionId":"o","name":"Allow","kind":"allow_once"}],"toolCall":{"toolCallId":"t"}}}`,
	`client {"jsonrpc":"2.0","id":"a","result":{"outcome":{"outcome":"selected","optionId":"o"}}}`,
	`client {"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}`,
	`agent {"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}`,
	`client {"jsonrpc":"2.0","id":3,"method":"session/fork","params":{"sessionId":"s","cwd":"/","mcpServers":[]}}`, // unstable
	`agent {"jsonrpc":"2.0","id":3,"result":{"sessionId":"f"}}`,
	`agent {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"f","update":{"sessionUpdate":"usage_update","used":1,"size":2}}}`,
	`client {"jsonrpc":"2.0","id":4,"method":"session/load","params":{"sessionId":"x","cwd":"/","mcpServers":[]}}`,
	`agent {"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"no such session"}}`,
	`agent {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"not JSON"}}`,
	`client {"jsonrpc":"2.0","id":6,"method":"session/list","params":{}}`,
	`client {"jsonrpc":"2.0","id":6,"method":"session/new","params":{"cwd":"/","mcpServers":[]}}`, // the id is in use
	`agent {"jsonrpc":"2.0","id":6,"error":{"code":-32600,"message":"the id is in use"}}`,
	`agent {"jsonrpc":"2.0","id":6,"result":{"sessions":[]}}`,
	`client {"jsonrpc":"2.0","id":5,"method":"_own/method","params":{}}`,
	`agent {"jsonrpc":"2.0","id":5,"result":{}}`,
}

func check(r *acptest.Recording, line string) error {
	side, text, _ := strings.Cut(line, " ")
	return r.Check(acptest.Side(side), []byte(text+"\n"))
}

func TestRecordingAcceptsAConversation(t *testing.T) {
	r := newRecording(t)
	for _, line := range conversation {
		if err := check(r, line); err != nil {
			t.Error(err)
		}
	}
	if open := append(r.Unanswered(acptest.Agent), r.Unanswered(acptest.Client)...); len(open) > 0 {
		t.Errorf("without a response: %v", open)
	}
}

func TestRecordingRejectsWrongLines(t *testing.T) {
	update := func(u string) string {
		return `agent {"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":` + u + `}}`
	}
	for _, tt := range []struct {
		line, want string
		after      int // lines of the conversation
	}{
		{`agent hello`, "invalid character", 0},
		{`agent {"jsonrpc":"2.0","method":"session/update"} {}`, "several messages", 0},
		{"agent {\"jsonrpc\":\"2.0\",\n\"method\":\"session/update\"}", "several lines", 0},
		{`agent {"id":1,"result":{}}`, `jsonrpc is ""`, 0},
		{`agent {"jsonrpc":"2.0","id":1,"results":{}}`, "unknown field", 0},
		{`agent {"jsonrpc":"2.0","id":9,"result":{}}`, "no request has the id 9", 0},
		{`agent {"jsonrpc":"2.0","id":0}`, "exactly one", 1},
		{`agent {"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":""}}`, "exactly one", 1},
		{`agent {"jsonrpc":"2.0","id":0,"result":{}}`, "protocolVersion", 1},
		{`agent {"jsonrpc":"2.0","id":0,"error":{"message":"x"}}`, "code", 1},
		{`agent {"jsonrpc":"2.0","error":{"code":1,"message":""}}`, `has the id ""`, 1},
		{`agent {"jsonrpc":"2.0","id":2,"result":{"stopReason":"finished"}}`, "stopReason", 5},
		{`agent {"jsonrpc":"2.0","id":1.5,"method":"session/request_permission","params":{}}`, "has the id 1.5", 0},
		{`agent {"jsonrpc":"2.0","id":null,"method":"session/request_permission","params":{}}`, "has the id null", 0},
		{`agent {"jsonrpc":"2.0","id":1,"method":"session/request_permission","result":{}}`, "a request and a response", 0},
		{`agent {"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}`, "client handles no request", 0},
		{`client {"jsonrpc":"2.0","id":1,"method":"session/prompts","params":{}}`, "agent handles no request", 0},
		{`client {"jsonrpc":"2.0","method":"session/prompt","params":{}}`, "agent handles no notification", 0},
		{`client {"jsonrpc":"2.0","id":3,"method":"session/fork","params":{"cwd":"/"}}`, "sessionId", 0},
		{`agent {"jsonrpc":"2.0","method":"session/update"}`, "expected object", 0},
		{update(`{"sessionUpdate":"agent_message_chunk"}`), "content", 0},
		{update(`{"sessionUpdate":"agent_message","content":{"type":"text","text":"hi"}}`), "sessionUpdate", 0},
		{update(`{"sessionUpdate":"tool_call","toolCallId":"t"}`), "title", 0},
		{update(`{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"done"}`), "status", 0},
		{update(`{"sessionUpdate":"tool_call","toolCallId":"t","title":"x","content":[{"type":"diff","newText":"x"}]}`), "path", 0},
		{update(`{"sessionUpdate":"plan","entries":[{"content":"x","status":"pending"}]}`), "priority", 0},
		{update(`{"sessionUpdate":"usage_update","used":1}`), "size", 0}, // unstable
		{update(`{"sessionUpdate":"usage_update","used":-1,"size":2}`), "used", 0},
	} {
		r := newRecording(t)
		for _, line := range conversation[:tt.after] {
			if err := check(r, line); err != nil {
				t.Fatal(err)
			}
		}
		if err := check(r, tt.line); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.line, err, tt.want)
		}
	}
}

func TestRecordingNoticesRequestsWithoutResponse(t *testing.T) {
	r := newRecording(t)
	for _, line := range conversation[:5] {
		if err := check(r, line); err != nil {
			t.Fatal(err)
		}
	}
	if open := r.Unanswered(acptest.Agent); len(open) != 1 || open[0] != "session/prompt" {
		t.Errorf("without a response: %v", open)
	}
}
