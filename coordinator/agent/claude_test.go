package agent

import (
	"strconv"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// A claudeTestParser parses lines of Claude Code.
type claudeTestParser struct{ claudeParser }

func (p *claudeTestParser) parse(raw []byte) []Event {
	var line claudeLine
	if !jsonlines.Decode(raw, &line) {
		return []Event{unparsedLine(raw)}
	}
	return p.take(line)
}

func newClaudeParser() parser { return &claudeTestParser{claudeParser{tools: toolNames{}}} }

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
		{name: "deltas longer than the text", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"Hello"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"He"}]}}`, want: []string{`text "Hello"`}},
		{name: "deltas of a block that was not completed", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}
{"type":"stream_event","event":{"type":"content_block_start"}}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"B"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Bye"}]}}`, want: []string{`text "HeBye"`}},
		{name: "tool between deltas", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"I look."}}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"Read"}]}}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"I saw."}}}`,
			want: []string{`text "I look."`, "started 1 Read ", `text "\n\nI saw."`}},
		{name: "text that is no reply", lines: `
{"type":"user","message":{"content":[{"type":"text","text":"from the user"}]}}
{"type":"assistant","is_api_error_message":true,"message":{"content":[{"type":"text","text":"API Error"}]}}`},
		{name: "session", lines: `
{"type":"system","subtype":"init"}
{"type":"system","subtype":"status","session_id":"s0"}
{"type":"system","subtype":"init","session_id":"s1"}`, want: []string{"session s1"}},
		{
			name: "error without a message", lines: `{"type":"result","subtype":"error_during_execution"}`,
			want: []string{"used 0+0+0 0+0 unknown", "failed: error_during_execution"},
		},
		{name: "result repeats the reply", lines: `
{"type":"assistant","message":{"content":[{"type":"text","text":"Hi."}]}}
{"type":"result","subtype":"success","result":"Hi."}`, want: []string{
			`text "Hi."`, "used 0+0+0 0+0 unknown", "done",
		}},
		{name: "failed tools", lines: `
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error":true,"content":" \n"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"2","is_error":true,
	"content":"` + strings.Repeat("x", 1024) + `"}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"3","is_error":true,
	"content":"` + strings.Repeat("x", 1025) + `"}]}}`, want: []string{
			`completed 1  "" "it failed"`, `completed 2  "" "` + strings.Repeat("x", 1024) + `"`,
			`completed 3  "` + strings.Repeat("x", 1025) + `" "` + strings.Repeat("x", 1021) + `…"`,
		}},
		{name: "inputs without a todo list", lines: `{"type":"assistant","message":{"content":[
	{"type":"tool_use","id":"1","name":"TodoWrite","input":{}},
	{"type":"tool_use","id":"2","name":"TodoWrite","input":[]},
	{"type":"tool_use","id":"3","name":"Write","input":{"todos":[]}}]}}`, want: []string{
			"started 1 TodoWrite {}", "started 2 TodoWrite []", `started 3 Write {"todos":[]}`,
		}},
		{name: "deltas of another text", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"hello"}]}}
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"bye"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"bye"}]}}`, want: []string{`text "He\n\nbye"`}},
		{name: "cost and cached tokens", lines: `{"type":"result","subtype":"success","total_cost_usd":0.25,
	"usage":{"input_tokens":10,"cache_creation_input_tokens":20,"cache_read_input_tokens":30,"output_tokens":9,
	"output_tokens_details":{"thinking_tokens":4}}}`, want: []string{"used 10+30+20 5+4 0.25 USD", "done"}},
		{name: "context", lines: `
{"type":"assistant","message":{"model":"m","usage":{"input_tokens":10,"cache_creation_input_tokens":20,
	"cache_read_input_tokens":30,"output_tokens":1},"content":[]}}
{"type":"stream_event","event":{"type":"message_delta","usage":{"output_tokens":9}}}
{"type":"assistant","parent_tool_use_id":"t","message":{"model":"s","usage":{"input_tokens":500},"content":[]}}
{"type":"stream_event","parent_tool_use_id":"t","event":{"type":"message_delta","usage":{"output_tokens":900}}}
{"type":"result","subtype":"success","modelUsage":{"s":{"contextWindow":2000},"m":{"contextWindow":1000}}}`,
			want: []string{"used 0+0+0 0+0 unknown, context 69 of 1000", "done"}},
		{name: "context of an unknown model", lines: `
{"type":"assistant","message":{"model":"x","usage":{"input_tokens":10},"content":[]}}
{"type":"result","subtype":"success","modelUsage":{"s":{"contextWindow":2000},"m":{"contextWindow":1000}}}`,
			want: []string{"used 0+0+0 0+0 unknown", "done"}},
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
		{name: "changes of a task", lines: `
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"saw"}},
	{"type":"tool_use","id":"b","name":"TaskUpdate","input":{"taskId":"1","subject":"glue"}},
	{"type":"tool_use","id":"c","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"Task #1 created"},
	{"type":"tool_result","tool_use_id":"b","content":"ok"},{"type":"tool_result","tool_use_id":"c","content":"ok"},
	{"type":"tool_result","tool_use_id":"b","content":"ok"}]}}`, want: []string{
			`started a TaskCreate {"subject":"saw"}`, `started b TaskUpdate {"taskId":"1","subject":"glue"}`,
			`started c TaskUpdate {"taskId":"1","status":"completed"}`,
			`completed a TaskCreate "Task #1 created" ""`, `plan pending "saw"`,
			`completed b TaskUpdate "ok" ""`, `plan pending "glue"`,
			`completed c TaskUpdate "ok" ""`, `plan completed "glue"`, `completed b  "ok" ""`,
		}},
		{name: "tools that change no task", lines: `
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"TaskCreate","input":{"subject":"saw"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"Task #1 created"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"b","name":"TaskGet","input":{"taskId":"1"}},
	{"type":"tool_use","id":"c","name":"TaskUpdate","input":"1"},
	{"type":"tool_use","id":"d","name":"TaskCreate","input":{"subject":"glue"}}]}}
{"type":"assistant","parent_tool_use_id":"t","message":{"content":[
	{"type":"tool_use","id":"e","name":"TaskUpdate","input":{"taskId":"1","status":"completed"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"b","content":"saw"},
	{"type":"tool_result","tool_use_id":"c","content":"ok"},{"type":"tool_result","tool_use_id":"d","content":"no id"},
	{"type":"tool_result","tool_use_id":"e","content":"ok"}]}}`, want: []string{
			`started a TaskCreate {"subject":"saw"}`, `completed a TaskCreate "Task #1 created" ""`, `plan pending "saw"`,
			`started b TaskGet {"taskId":"1"}`, `started c TaskUpdate "1"`, `started d TaskCreate {"subject":"glue"}`,
			`started e TaskUpdate {"taskId":"1","status":"completed"}`, `completed b TaskGet "saw" ""`,
			`completed c TaskUpdate "ok" ""`, `completed d TaskCreate "no id" ""`, `completed e TaskUpdate "ok" ""`,
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

func TestClaudeTasksAreLimited(t *testing.T) {
	var waiting, created claudeTasks
	for i := range 1001 {
		waiting.ask(strconv.Itoa(i), "TaskCreate", []byte("{}"))
	}
	for i := range 1001 {
		id := strconv.Itoa(i)
		created.ask(id, "TaskCreate", []byte("{}"))
		result := "Task #" + id + " created"
		if got := created.done(id, result, false); (got == nil) != (i == 1000) {
			t.Errorf("task %d: got %.100v", i, got)
		}
		if got := waiting.done(id, result, false); (got == nil) != (i == 1000) {
			t.Errorf("task %d of those that wait: got %.100v", i, got)
		}
	}
}

func TestRunningToolsAreLimited(t *testing.T) {
	names := toolNames{}
	for i := range maxTools + 1 {
		names.add(strconv.Itoa(i), "sh")
	}
	_, last := names.remove(strconv.Itoa(maxTools - 1))
	if _, more := names.remove(strconv.Itoa(maxTools)); last != "sh" || more != "" {
		t.Errorf("the names are %q and %q", last, more)
	}
}

func TestClaudeArguments(t *testing.T) {
	const always = "-p --input-format stream-json --output-format stream-json --verbose --include-partial-messages " +
		"--permission-prompt-tool stdio"
	for _, tt := range []struct {
		member Member
		want   string
	}{
		{Member{}, ""},
		{Member{Model: "opus", Permissions: "read"}, " --permission-mode plan --model opus"},
		{Member{Permissions: "ask"}, " --permission-mode default"},
		{Member{Permissions: "allow"}, " --permission-mode default"},
		{Member{Permissions: "deny"}, " --permission-mode default"},
		{Member{Permissions: "edit"}, " --permission-mode acceptEdits"},
		{Member{Permissions: "bypass"}, " --dangerously-skip-permissions"},
		{
			Member{Permissions: "read", Args: []string{"--dangerously-skip-permissions", "--add-dir", "x"}},
			" --permission-mode plan --add-dir x",
		},
		{
			Member{Permissions: "bypass", Args: []string{"--permission-mode", "plan", "--allowed-tools", "Bash"}},
			" --dangerously-skip-permissions --allowed-tools Bash",
		},
		{
			Member{Permissions: "edit", Args: []string{"--permission-mode=plan", "--add-dir", "x"}},
			" --permission-mode acceptEdits --add-dir x",
		},
		{Member{Permissions: "read", Args: []string{"--add-dir", "", "x"}}, " --permission-mode plan --add-dir  x"},
		{Member{Args: []string{"--permission-mode", "plan"}}, " --permission-mode plan"},
		{Member{Args: []string{"--dangerously-skip-permissions"}}, " --dangerously-skip-permissions"},
		{
			Member{Permissions: "bypass", Args: []string{
				"-p", "--dangerously-skip-permissions", "--output-format", "text",
				"--output-format=json", "--input-format", "text", "--permission-prompt-tool=x", "--add-dir", "x",
			}},
			" --dangerously-skip-permissions --add-dir x",
		},
		{
			Member{Args: []string{
				"--resume", "x", "-r=y", "--continue", "-c", "--session-id", "z", "--fork-session", "--verbose",
				"--resume-session-at=u", "--no-session-persistence", "--permission-prompts", "none", "--debug",
			}},
			" --debug",
		},
	} {
		got, err := claudeArguments(tt.member)
		if err != nil || strings.Join(got, " ") != always+tt.want {
			t.Errorf("%+v: got %q, %v, want %q", tt.member, got, err, tt.want)
		}
	}
	for _, invalid := range []string{"yolo", "Bypass", " "} {
		got, err := claudeArguments(Member{Permissions: invalid})
		if err == nil || !strings.Contains(err.Error(), `"permissions" to ask, allow, deny, read, edit, bypass`) {
			t.Errorf("permissions %q: got %q, %v, want an error", invalid, got, err)
		}
	}
}
