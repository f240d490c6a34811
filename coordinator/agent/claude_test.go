package agent

import (
	"strings"
	"testing"
)

func newClaudeParser() parser { return Claude().format.parser() }

func TestClaudeParser(t *testing.T) {
	checkStreams(t, newClaudeParser, []streamTest{
		{
			name: "complete messages without deltas",
			lines: `{"type":"assistant","message":{"content":[{"type":"text","text":"Hi."},{"type":"text",` +
				`"text":"Bye."}]}}`,
			want: []string{`text "Hi.\n\nBye."`},
		},
		{name: "message with missing deltas", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}`, want: []string{`text "Hello"`}},
		{name: "subagent", lines: `
{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[
	{"type":"text","text":"for the agent only"},{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}
{"type":"stream_event","parent_tool_use_id":"t1","event":
	{"type":"content_block_delta","delta":{"type":"text_delta","text":"for the agent only"}}}
{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","tool_use_id":"t2",
	"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}`, want: []string{
			`started t2 Read {}`, `completed t2 Read "a\nb" ""`,
		}},
		{
			name: "slash command without model", lines: `{"type":"result","subtype":"success","result":"Cleared."}`,
			want: []string{"used 0+0+0 0+0 unknown", `text "Cleared."`, "done"},
		},
		{
			name:  "turn limit",
			lines: `{"type":"result","subtype":"error_max_turns","is_error":false,"errors":["a","b"]}`,
			want:  []string{"used 0+0+0 0+0 unknown", "failed: a; b"},
		},
		{
			name:  "fields of other types",
			lines: `{"type":"result","subtype":"success","usage":7,"result":[],"errors":"x"}`,
			want:  []string{"used 0+0+0 0+0 unknown", "done"},
		},
		{
			name: "long id and name", lines: `{"type":"assistant","message":{"content":[{"type":"tool_use",` +
				`"id":"` + strings.Repeat("i", 2000) + `","name":"` + strings.Repeat("n", 2000) + `"}]}}`,
			want: []string{"started " + strings.Repeat("i", 1024) + " " + strings.Repeat("n", 1024) + " "},
		},
		{name: "deltas of another text", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"hello"}]}}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"bye"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"bye"}]}}`, want: []string{`text "He\n\nbye"`}},
		{name: "cost and cached tokens", lines: `{"type":"result","subtype":"success","total_cost_usd":0.25,
	"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":9,
	"output_tokens_details":{"thinking_tokens":4}}}`, want: []string{"used 10+30+20 5+4 0.25 USD", "done"}},
		{name: "todo list", lines: `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1",
	"name":"TodoWrite","input":{"todos":[{"content":"saw","status":"completed"},{"content":"glue","status":"in_progress",
	"activeForm":"gluing"}]}}]}}
{"type":"assistant","parent_tool_use_id":"t","message":{"content":[{"type":"tool_use","id":"2","name":"TodoWrite",
	"input":{"todos":[]}}]}}`, want: []string{
			`started 1 TodoWrite {"todos":[{"content":"saw","status":"completed"},{"content":"glue",` +
				`"status":"in_progress","activeForm":"gluing"}]}`,
			`plan completed "saw", in_progress "glue"`, `started 2 TodoWrite {"todos":[]}`,
		}},
		{name: "tasks", lines: `
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate",
	"input":{"subject":"saw","description":"d"}},
	{"type":"tool_use","id":"b","name":"TaskCreate","input":{"subject":"glue"}}]}}
{"type":"user","message":{"content":[
	{"type":"tool_result","tool_use_id":"a","content":"Task #1 created successfully: saw"},
	{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"Task #2 created successfully: glue"}]}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"c","name":"TaskUpdate",
	"input":{"taskId":"1","status":"in_progress"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c","content":"Updated task #1 status"}]}}
{"type":"assistant","message":{"content":[
	{"type":"tool_use","id":"d","name":"TaskUpdate","input":{"taskId":"2","status":"deleted"}},
	{"type":"tool_use","id":"e","name":"TaskUpdate","input":{"taskId":"9","status":"completed"}},
	{"type":"tool_use","id":"f","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"d","content":"Updated task #2 deleted"},
	{"type":"tool_result","tool_use_id":"e","content":"Task not found"},
	{"type":"tool_result","tool_use_id":"f","content":"no","is_error":true}]}}`, want: []string{
			`started a TaskCreate {"subject":"saw","description":"d"}`, `started b TaskCreate {"subject":"glue"}`,
			`completed a TaskCreate "Task #1 created successfully: saw" ""`, `plan pending "saw"`,
			`completed b TaskCreate "Task #2 created successfully: glue" ""`, `plan pending "saw", pending "glue"`,
			`started c TaskUpdate {"taskId":"1","status":"in_progress"}`,
			`completed c TaskUpdate "Updated task #1 status" ""`, `plan in_progress "saw", pending "glue"`,
			`started d TaskUpdate {"taskId":"2","status":"deleted"}`,
			`started e TaskUpdate {"taskId":"9","status":"completed"}`,
			`started f TaskUpdate {"taskId":"1","status":"completed"}`,
			`completed d TaskUpdate "Updated task #2 deleted" ""`, `plan in_progress "saw"`,
			`completed e TaskUpdate "Task not found" ""`, `completed f TaskUpdate "" "no"`,
		}},
		{name: "retries", lines: `
{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":512.5,"error_status":401,
	"error":"authentication_failed"}
{"type":"system","subtype":"api_retry","attempt":2,"max_retries":10,"retry_delay_ms":-1,"error_status":null}
{"type":"system","subtype":"api_retry","retry_delay_ms":1e300}`, want: []string{
			"retry 1/10 in 512ms: authentication_failed (status 401)", "retry 2/10 in 0s: no answer",
			"retry 0/0 in 24h0m0s: no answer",
		}},
		{
			name: "unparsed lines", lines: "npm warn\n\n[1]\n{\"type\":\"news\"}\n{\"type\":",
			want: []string{"unparsed: npm warn", "unparsed: [1]", `unparsed: {"type":`},
		},
	})
}

func FuzzClaude(f *testing.F) {
	addRecordings(f, "claude")
	fuzzParser(f, newClaudeParser)
}

func TestClaudeArguments(t *testing.T) {
	checkArguments(t, Claude(), []argumentsTest{
		{Member{}, "-p --output-format stream-json --verbose --include-partial-messages"},
		{
			Member{Model: "opus", Permissions: "read"},
			"-p --output-format stream-json --verbose --include-partial-messages --permission-mode plan --model opus",
		},
		{
			Member{Permissions: "edit"},
			"-p --output-format stream-json --verbose --include-partial-messages --permission-mode acceptEdits",
		},
		{
			Member{Permissions: "bypass"},
			"-p --output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions",
		},
		{
			Member{Permissions: "read", Args: []string{"--dangerously-skip-permissions", "--add-dir", "x"}},
			"-p --output-format stream-json --verbose --include-partial-messages --permission-mode plan --add-dir x",
		},
		{
			Member{Permissions: "bypass", Args: []string{"--permission-mode", "plan", "--allowed-tools", "Bash"}},
			"-p --output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions " +
				"--allowed-tools Bash",
		},
		{
			Member{Permissions: "edit", Args: []string{"--permission-mode=plan", "--add-dir", "x"}},
			"-p --output-format stream-json --verbose --include-partial-messages --permission-mode acceptEdits " +
				"--add-dir x",
		},
		{
			Member{Args: []string{"--permission-mode", "plan"}},
			"-p --output-format stream-json --verbose --include-partial-messages --permission-mode plan",
		},
		{
			Member{Args: []string{"--dangerously-skip-permissions"}},
			"-p --output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions",
		},
		{
			Member{Permissions: "bypass", Args: []string{
				"-p", "--dangerously-skip-permissions", "--output-format", "text",
				"--output-format=json", "--add-dir", "x",
			}},
			"-p --output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions " +
				"--add-dir x",
		},
	})
}
