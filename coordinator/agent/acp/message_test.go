package acp

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// received returns a client of session s that has received a line.
func received(line []byte) *Client {
	c := &Client{conn: jsonrpc.New(jsonRPC), session: "s"}
	c.conn.Take(line)
	return c
}

func TestUpdates(t *testing.T) {
	for name, test := range map[string]struct {
		update string
		want   Message
	}{
		"text": {
			`{"sessionUpdate":"agent_message_chunk","content":{"text":"hi"},"messageId":"m"}`,
			Chunk{"m", "hi"},
		},
		"image":   {`{"sessionUpdate":"agent_message_chunk","content":{"type":"image"}}`, Chunk{Text: "[image]"}},
		"thought": {`{"sessionUpdate":"agent_thought_chunk","content":{"text":"hm"}}`, OtherUpdate{}},
		"plan": {
			`{"sessionUpdate":"plan","entries":[{"content":"saw","status":"completed","priority":"high"}]}`,
			Plan{{"saw", "completed", "high"}},
		},
		"cost": {
			`{"sessionUpdate":"usage_update","used":9,"size":99,"cost":{"amount":0.5,"currency":"USD"}}`,
			Spent{&Cost{0.5, "USD"}, 9, 99},
		},
		"context":                 {`{"sessionUpdate":"usage_update","used":9,"size":99}`, Spent{nil, 9, 99}},
		"context of unknown size": {`{"sessionUpdate":"usage_update","used":9}`, Spent{}},
		"system error": {
			`{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}`,
			SystemError{},
		},
		"retry of Codex": {
			`{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"Reconnecting... 1/5",
				"additionalDetails":"429 Too Many Requests","codexErrorInfo":"other","willRetry":true}}}}`,
			Retry{Reason: "Reconnecting... 1/5: 429 Too Many Requests"},
		},
		"last error of Codex": {
			`{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"no","willRetry":false}}}}`,
			OtherUpdate{},
		},
		"retry of OpenCode": {
			`{"sessionUpdate":"session_info_update","_meta":{"opencode/retry":{"messageId":"m","attempt":2,
				"nextRetryAt":"2026-11-21T12:00:05Z","error":{"type":"api","message":"overloaded"}}}}`,
			Retry{"overloaded", time.Date(2026, 11, 21, 12, 0, 5, 0, time.UTC)},
		},
		"retry at a wrong time": {
			`{"sessionUpdate":"session_info_update","_meta":{"opencode/retry":{"nextRetryAt":"soon",
				"error":{"message":"overloaded"}}}}`,
			Retry{Reason: "overloaded"},
		},
		"wrong types": {`{"sessionUpdate":"tool_call","toolCallId":"1","title":7}`, ToolUpdate{ID: "1"}},
		"empty input": {`{"sessionUpdate":"tool_call","toolCallId":"1","rawInput":{}}`, ToolUpdate{ID: "1"}},
		"null input":  {`{"sessionUpdate":"tool_call","toolCallId":"1","rawInput":null}`, ToolUpdate{ID: "1"}},
		"no input":    {`{"sessionUpdate":"tool_call","toolCallId":"1"}`, ToolUpdate{ID: "1"}},
		"server's tool of Codex": {
			`{"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","rawInput":{"server":"s","tool":"t","arguments":{"a":1}}}`,
			ToolUpdate{ID: "1", Category: "execute", Name: "s.t", Input: json.RawMessage(`{"a":1}`), Acts: true},
		},
		"input that has a tool": {
			`{"sessionUpdate":"tool_call","toolCallId":"1","rawInput":{"server":"s","tool":"t"}}`,
			ToolUpdate{ID: "1", Input: json.RawMessage(`{"server":"s","tool":"t"}`)},
		},
		"result of a server's tool of Codex": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawOutput":{"result":{"content":[{"type":"text","text":"x"},{"text":"y"}]},"error":null}}`,
			ToolUpdate{ID: "1", Output: "x\ny", OutputReplaced: true},
		},
		"empty output": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawOutput":"","content":[{"content":{"text":"x"}}]}`,
			ToolUpdate{ID: "1", Output: "x", OutputReplaced: true},
		},
		"output of another type": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","rawOutput":{"a":1},"content":[{"content":{"text":"x"}}]}`,
			ToolUpdate{ID: "1", Output: "x", OutputReplaced: true},
		},
		"retry of Codex without details": {
			`{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"again","willRetry":true}}}}`,
			Retry{Reason: "again"},
		},
		"last error of Codex with details": {
			`{"sessionUpdate":"session_info_update","_meta":{"codex":{"error":{"message":"no","additionalDetails":"429"}}}}`,
			OtherUpdate{},
		},
		"running": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"in_progress"}`,
			ToolUpdate{ID: "1", Started: true},
		},
		"output erased": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","content":[]}`,
			ToolUpdate{ID: "1", OutputReplaced: true},
		},
		"failed": {
			`{"sessionUpdate":"tool_call_update","toolCallId":"1","status":"failed","rawOutput":"no"}`,
			ToolUpdate{ID: "1", Output: "no", OutputReplaced: true, Started: true, Ended: true, Failed: true},
		},
		"tool": {
			`{"sessionUpdate":"tool_call","toolCallId":"1","name":"sh","kind":"execute","title":"ls","rawInput":{"a":1},
				"content":[{"content":{"text":"x"}},{"type":"diff"},{"content":{"text":"y"}}],
				"_meta":{"terminal_output_delta":{"data":"z"}}}`,
			ToolUpdate{
				ID: "1", Name: "sh", Category: "execute", Title: "ls", Input: json.RawMessage(`{"a":1}`),
				Output: "x\ny", OutputReplaced: true, OutputAppended: "z", Acts: true,
			},
		},
	} {
		for session, ok := range map[string]bool{"s": true, "other": false} {
			m := jsonrpc.Message{Params: json.RawMessage(`{"sessionId":"` + session + `","update":` + test.update + `}`)}
			got, found := received(nil).updateOf(m)
			if found != ok || ok && !cmp.Equal(got, test.want) {
				t.Errorf("%s: got %+v, %v", name, got, found)
			}
		}
	}
}

func TestResponses(t *testing.T) {
	for _, test := range []struct {
		line   string
		result Result
	}{
		{`{"id":1,"result":{"stopReason":"end_turn"}}`, Result{StopReason: "end_turn"}},
		{
			`{"id":1,"result":{"stopReason":"end_turn","usage":{"inputTokens":2,"cachedReadTokens":3,` +
				`"cachedWriteTokens":4,"outputTokens":5,"thoughtTokens":1,"totalTokens":14}}}`,
			Result{StopReason: "end_turn", Usage: Usage{2, 3, 4, 5, 1, 14}},
		},
		{
			`{"id":1,"result":{"_meta":{"quota":{"token_count":{"input_tokens":2,"output_tokens":3}}}}}`,
			Result{Usage: Usage{Input: 2, Output: 3}},
		},
		{`{"id":1,"error":{"code":1,"message":"no"}}`, Result{Err: &RequestError{Message: "no"}}},
		{
			`{"id":1,"error":{"message":"no","data":{"details":"credit"}}}`,
			Result{Err: &RequestError{Message: "no: credit"}},
		},
		{
			`{"id":1,"error":{"message":"no","data":{"error":"e","message":"m","details":""}}}`,
			Result{Err: &RequestError{Message: "no: m"}},
		},
		{
			`{"id":1,"error":{"message":"no","data":{"error":"e","message":7}}}`,
			Result{Err: &RequestError{Message: "no: e"}},
		},
		{
			`{"id":1,"error":{"code":-32000,"message":"log in","data":{"details":"there"}}}`,
			Result{Err: &RequestError{Message: "log in", AuthRequired: true}},
		},
		{`{"id":1,"error":null,"result":{"stopReason":"refusal"}}`, Result{StopReason: "refusal"}},
		{
			`{"id":1,"error":{"code":-32000,"message":"log in"}}`,
			Result{Err: &RequestError{Message: "log in", AuthRequired: true}},
		},
		{`{"id":null,"error":{"message":"what?"}}`, Result{Err: &RequestError{Message: "what?"}}},
		{`{"id":1,"error":"boom"}`, Result{Err: &RequestError{Message: `"boom"`}}},
	} {
		c := received([]byte(test.line))
		if len(c.conn.Inbox) != 1 || !c.conn.Inbox[0].Responds("1") {
			t.Errorf("%s is no response: %+v", test.line, c.conn.Inbox)
			continue
		}
		if got := resultOf(c.conn.Inbox[0]); !cmp.Equal(got, test.result) {
			t.Errorf("%s: got %+v", test.line, got)
		}
	}
	for _, line := range []string{
		`{"id":2,"result":{}}`, `{"id":1,"method":"x"}`, `{"method":"x"}`, `{"id":null,"result":{}}`,
	} {
		if c := received([]byte(line)); len(c.conn.Inbox) != 1 || c.conn.Inbox[0].Responds("1") {
			t.Errorf("%s is taken for the response: %+v", line, c.conn.Inbox)
		}
	}
}

// An agent may offer only some kinds of options, in any order.
func TestAnswerSelectsTheOption(t *testing.T) {
	for _, test := range []struct {
		options         []string
		allowed, always bool
		want            string
	}{
		{[]string{"allow_always", "allow_once", "reject_always", "reject_once"}, true, false, "allow_once"},
		{[]string{"allow_once", "allow_always", "reject_always", "reject_once"}, true, true, "allow_always"},
		{[]string{"reject_always", "reject_once", "allow_once"}, false, false, "reject_once"},
		{[]string{"reject_always", "reject_once", "allow_once"}, false, true, "reject_once"},
		{[]string{"allow_always", "reject_always"}, true, false, "allow_always"},
		{[]string{"allow_always", "reject_always"}, false, false, "reject_always"},
		{[]string{"allow_once"}, true, true, "allow_once"},
		{[]string{"allow_once", ""}, false, false, ""},
		{[]string{"reject_once"}, true, true, ""},
	} {
		var options []map[string]string
		for _, kind := range test.options {
			options = append(options, map[string]string{"kind": "reject_once"}, map[string]string{"optionId": kind, "kind": kind})
		}
		c := received(nil)
		r, _ := c.permissionRequestOf(jsonrpc.Message{ID: json.RawMessage("7"), Method: "session/request_permission",
			Params: jsonrpc.Encode(map[string]any{"sessionId": "s", "toolCall": map[string]any{"toolCallId": "1"}, "options": options})})
		c.Answer(r, test.allowed, test.always)
		var sent struct {
			ID     int
			Result struct {
				Outcome struct{ Outcome, OptionID string }
			}
		}
		var queued bytes.Buffer
		c.conn.Outbox.Close()
		c.conn.Outbox.Deliver(&queued)
		if err := json.Unmarshal(queued.Bytes(), &sent); err != nil || sent.ID != 7 {
			t.Fatalf("%s: %v", queued.Bytes(), err)
		}
		outcome := "selected"
		if test.want == "" {
			outcome = "cancelled"
		}
		if got := sent.Result.Outcome; got.Outcome != outcome || got.OptionID != test.want {
			t.Errorf("of %q, %t and %t: got %+v, want %q", test.options, test.allowed, test.always, got, test.want)
		}
	}
}

func TestLinesThatAreNoMessages(t *testing.T) {
	long := strings.Repeat("x", 4<<10)
	for line, unparsed := range map[string]string{
		long + "y": long,
		"":         "", "\r": "", "x": "x", " ": "", "{}": "{}", `{"id":1}`: "", `{"method":"m"}`: "", "[]": "[]",
	} {
		c := received([]byte(line))
		c.conn.Take([]byte("a later line"))
		want := unparsed
		if want == "" {
			want = "a later line"
		}
		if c.Unparsed() != want {
			t.Errorf("%q: unparsed is %q", line, c.Unparsed())
		}
	}
}

func FuzzMessages(f *testing.F) {
	files, err := filepath.Glob("../testdata/streams/acp-*.rec")
	if err != nil || len(files) == 0 {
		f.Fatalf("no recordings: %v", err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for line := range bytes.Lines(content) {
			if line, ok := bytes.CutPrefix(line, []byte("< ")); ok {
				f.Add(bytes.TrimSpace(line))
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		c := received(line)
		if len(c.conn.Inbox) > 0 && c.Unparsed() != "" || len(c.Unparsed()) > 4<<10 {
			t.Errorf("%q is %+v, unparsed %q", line, c.conn.Inbox, c.Unparsed())
		}
		for _, m := range c.conn.Inbox {
			m.Responds("1")
			resultOf(m)
			c.updateOf(m)
			c.permissionRequestOf(m)
		}
	})
}
