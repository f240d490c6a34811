package agent

import "testing"

func newClaudeParser() parser { return Claude().dialect.parser() }

func TestWhatClaudePrintsIsUnderstood(t *testing.T) {
	checkStreams(t, newClaudeParser, []stream{
		{name: "claude-text", want: []string{
			recordedSession,
			`said "Hello there. [NEXT: bob]"`,
			"used 10 5",
			"done",
		}},
		{name: "claude-tool", want: []string{
			recordedSession,
			`started toolu_fake000007 Bash {"command":"echo hi; touch made","description":"fake tool call"}`,
			`completed toolu_fake000007 Bash "hi" ""`,
			`said "Tool done. Hello from fake. [NEXT: human]"`,
			"used 20 10",
			"done",
		}},
		{name: "claude-tool-denied", want: []string{
			recordedSession,
			`started toolu_fake000004 Bash {"command":"echo hi; touch made","description":"fake tool call"}`,
			`completed toolu_fake000004 Bash "" "touch in '/home/dev/work/made' needs approval. The path is inside the working directories for this session ('/home/dev/work'), and Claude Code asks before a shell command creates, changes or removes files there."`,
			`said "Tool done. Hello from fake. [NEXT: human]"`,
			"used 20 10",
			"done",
		}},
		{name: "claude-api-error", want: []string{recordedSession, "used 0 0", "failed: API Error: 400 fake failure"}},
		{name: "claude-interrupted", want: []string{
			recordedSession,
			`said "Hello from fake. [NEXT: human] w0 w1 w2 "`,
			"used 0 0",
			"failed: [ede_diagnostic] result_type=user last_content_type=n/a stop_reason=null",
		}},
		{name: "claude-retry", want: []string{
			recordedSession,
			"trouble: try 1 of 10 failed: authentication_failed (status 401)",
			"trouble: try 2 of 10 failed: authentication_failed (status 401)",
			"trouble: try 3 of 10 failed: authentication_failed (status 401)",
		}},
		{name: "a reply that comes whole", lines: `{"type":"assistant","message":{"content":[{"type":"text","text":"Hi."},{"type":"text","text":"Bye."}]}}`, want: []string{`said "Hi.\n\nBye."`}},
		{name: "a message whose pieces were not all told", lines: `
{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}
{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}`, want: []string{`said "Hello"`}},
		{name: "a subagent", lines: `
{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"for the agent only"},{"type":"tool_use","id":"t2","name":"Read","input":{}}]}}
{"type":"stream_event","parent_tool_use_id":"t1","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"for the agent only"}}}
{"type":"user","parent_tool_use_id":"t1","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]}]}}`, want: []string{
			`started t2 Read {}`, `completed t2 Read "a\nb" ""`,
		}},
		{name: "a command that the agent obeys by itself", lines: `{"type":"result","subtype":"success","result":"Cleared."}`, want: []string{"used 0 0", `said "Cleared."`, "done"}},
		{name: "too many steps", lines: `{"type":"result","subtype":"error_max_turns","is_error":false,"errors":["a","b"]}`, want: []string{"used 0 0", "failed: a; b"}},
		{name: "fields of other types", lines: `{"type":"result","subtype":"success","usage":7,"result":[],"errors":"x"}`, want: []string{"used 0 0", "done"}},
		{name: "lines that are none of its own", lines: "npm warn\n\n[1]\n{\"type\":\"news\"}\n{\"type\":", want: []string{"noise: npm warn", "noise: [1]", `noise: {"type":`}},
	})
}

func FuzzClaude(f *testing.F) { fuzzParser(f, "claude", newClaudeParser) }

func TestClaudeIsStartedWithItsOwnChecksUnlessTheMemberSaysOtherwise(t *testing.T) {
	checkArguments(t, Claude(), []arguments{
		{Member{}, "-p --output-format stream-json --verbose --include-partial-messages"},
		{Member{Model: "opus", Permissions: "read"}, "-p --output-format stream-json --verbose --include-partial-messages --permission-mode plan --model opus"},
		{Member{Permissions: "edit"}, "-p --output-format stream-json --verbose --include-partial-messages --permission-mode acceptEdits"},
		{Member{Permissions: "bypass"}, "-p --output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions"},
		{
			Member{Permissions: "bypass", Args: []string{"-p", "--dangerously-skip-permissions", "--output-format", "text", "--output-format=json", "--add-dir", "x"}},
			"-p --output-format stream-json --verbose --include-partial-messages --dangerously-skip-permissions --add-dir x",
		},
	})
}
