package agent

import (
	"strings"
	"testing"
)

func newCodexParser() parser { return Codex().format.parser() }

func TestCodexParser(t *testing.T) {
	checkStreams(t, newCodexParser, []streamTest{
		{name: "several messages", lines: `
{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"I look."}}
{"type":"item.completed","item":{"id":"2","type":"reasoning","text":"hm"}}
{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"I saw."}}`,
			want: []string{`text "I look.\n\nI saw."`}},
		{name: "all kinds of tools", lines: `
{"type":"item.completed","item":{"id":"1","type":"file_change",
	"changes":[{"path":"a","kind":"add"}],"status":"completed"}}
{"type":"item.started","item":{"id":"2","type":"mcp_tool_call",
	"server":"s","tool":"t","arguments":{"a":1},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"2","type":"mcp_tool_call",
	"server":"s","tool":"t","result":null,"error":{"message":"no"},"status":"failed"}}
{"type":"item.completed","item":{"id":"3","type":"web_search","query":"q"}}
{"type":"item.completed","item":{"id":"4","type":"command_execution","command":"rm",
	"status":"declined"}}`, want: []string{
			`started 1 file_change [{"path":"a","kind":"add"}]`, `completed 1 file_change "" ""`,
			`started 2 s.t {"a":1}`, `completed 2 s.t "" "no"`,
			`started 3 web_search {"query":"q"}`, `completed 3 web_search "" ""`,
			`started 4 shell {"command":"rm"}`, `completed 4 shell "" "declined"`,
		}},
		{name: "todo list", lines: `
{"type":"item.started","item":{"id":"1","type":"todo_list","items":[{"text":"saw","completed":false}]}}
{"type":"item.updated","item":{"id":"1","type":"todo_list","items":[{"text":"saw","completed":true}]}}
{"type":"item.completed","item":{"id":"1","type":"todo_list","items":[]}}`, want: []string{
			`plan pending "saw"`, `plan completed "saw"`, "plan",
		}},
		{
			name: "retry", lines: `{"type":"error","message":"Reconnecting... 1/5 (timeout)"}`,
			want: []string{"retry 0/0 in 0s: Reconnecting... 1/5 (timeout)"},
		},
		{
			name: "usage",
			lines: `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,` +
				`"cache_write_input_tokens":1,"output_tokens":9,"reasoning_output_tokens":2}}`,
			want: []string{"used 5+4+1 7+2 unknown", "done"},
		},
		{
			name: "more cached than used",
			lines: `{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":4,"output_tokens":1,` +
				`"reasoning_output_tokens":2}}`,
			want: []string{"used 0+4+0 0+2 unknown", "done"},
		},
		{name: "tool with several updates", lines: `
{"type":"item.completed","item":{"id":"0","type":"agent_message","text":"I look."}}
{"type":"item.started","item":{"id":"1","type":"command_execution","command":"ls"}}
{"type":"item.updated","item":{"id":"1","type":"command_execution","command":"ls"}}
{"type":"item.completed","item":{"id":"1","type":"command_execution","command":"ls","aggregated_output":"a",
	"exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"1","type":"mcp_tool_call","server":"s","tool":"t","result":{"a":1}}}
{"type":"item.completed","item":{"id":"5","type":"mcp_tool_call","server":"s","tool":"u",
	"result":{"content":[{"type":"text","text":"found"}],"structured_content":null}}}
{"type":"item.completed","item":{"id":"2","type":"command_execution","command":"ls","exit_code":1,"status":"failed"}}
{"type":"item.completed","item":{"id":"3","type":"command_execution","exit_code":0,"status":"failed"}}
{"type":"item.completed","item":{"id":"4","type":"agent_message","text":"I saw."}}`, want: []string{
			`text "I look."`, `started 1 shell {"command":"ls"}`, `completed 1 shell "a" ""`,
			`started 1 s.t `, `completed 1 s.t "{\"a\":1}" ""`,
			`started 5 s.u `, `completed 5 s.u "found" ""`,
			`started 2 shell {"command":"ls"}`, `completed 2 shell "" "exit code 1"`,
			`started 3 shell {"command":""}`, `completed 3 shell "" "failed"`, `text "\n\nI saw."`,
		}},
		{
			name: "error", lines: `{"type":"error","message":"{\"error\":{\"message\":\"no credit\"}}"}`,
			want: []string{"warning: no credit"},
		},
		{
			name: "warning", lines: `{"type":"item.completed","item":{"id":"1","type":"error","message":"old model"}}`,
			want: []string{"warning: old model"},
		},
		{
			name: "unparsed lines", lines: "warning\n{\"type\":\"news\"}\n7",
			want: []string{"unparsed: warning", "unparsed: 7"},
		},
	})
}

func FuzzCodex(f *testing.F) {
	addRecordings(f, "codex")
	fuzzParser(f, newCodexParser)
}

func TestCodexArguments(t *testing.T) {
	checkArguments(t, Codex(), []argumentsTest{
		{Member{}, "exec --json -"},
		{Member{Model: "m", Permissions: "read"}, "exec --json --sandbox read-only --skip-git-repo-check -m m -"},
		{
			Member{Thinking: new(bool), Args: []string{"-c", "a=1"}},
			"exec --json --config=model_reasoning_effort=none -c a=1 -",
		},
		{Member{Permissions: "edit"}, "exec --json --sandbox workspace-write -"},
		{
			Member{Permissions: "bypass"},
			"exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -",
		},
		{
			Member{Permissions: "edit", Args: []string{
				"exec", "--json", "--sandbox", "danger-full-access", "-c", "exec=1", "exec", "-",
			}},
			"exec --json --sandbox workspace-write -c exec=1 exec -",
		},
		{
			Member{Permissions: "edit", Args: []string{"--yolo", "--skip-git-repo-check"}},
			"exec --json --sandbox workspace-write --skip-git-repo-check -",
		},
		{
			Member{Permissions: "bypass", Args: []string{"--yolo"}},
			"exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check -",
		},
		{
			Member{Permissions: "bypass", Args: []string{"--sandbox", "read-only", "-a", "never", "--full-auto", "x"}},
			"exec --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check x -",
		},
		{
			Member{Args: []string{"-a", "never", "--full-auto"}},
			"exec --json -a never --full-auto -",
		},
		{
			Member{Model: "m", Permissions: "read", Args: []string{
				"--model", "n", "-s", "danger-full-access", "-o", "last.txt",
			}},
			"exec --json --sandbox read-only --skip-git-repo-check -m m -o last.txt -",
		},
	})
}

func TestCodexPromptLimit(t *testing.T) {
	for _, tt := range []struct {
		prompt string
		excess int
	}{
		{"", 0},
		{strings.Repeat("x", 1<<20), 0},
		{strings.Repeat("x", 1<<20+7), 7},
		{strings.Repeat("語", 1<<20), 0},
		{strings.Repeat("語", 1<<20+7), 7},
	} {
		if got := Codex().Excess(Member{}, tt.prompt); got != tt.excess {
			t.Errorf("%d bytes are %d too many, want %d", len(tt.prompt), got, tt.excess)
		}
	}
	long := Turn{Prompt: strings.Repeat("x", 1<<20+1)}
	for _, err := range Codex().Run(t.Context(), long) {
		if err == nil || !strings.Contains(err.Error(), "the limit is 1048576 characters") {
			t.Errorf("got %v", err)
		}
	}
}
