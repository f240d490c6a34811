package agent

import (
	"strings"
	"testing"
)

func newGeminiParser() parser { return Gemini().format.parser() }

func TestGeminiParser(t *testing.T) {
	checkStreams(t, newGeminiParser, []streamTest{
		{name: "unknown tool", lines: `
{"type":"tool_use","tool_name":"bash","tool_id":"bash__1","parameters":{"command":"echo hi"}}
{"type":"tool_result","tool_id":"bash__1","status":"error","output":"Tool \"bash\" not found.",
	"error":{"type":"tool_not_registered",
	"message":"Tool \"bash\" not found. Did you mean one of: \"glob\"?"}}`, want: []string{
			`started bash__1 bash {"command":"echo hi"}`,
			`completed bash__1 bash "" "Tool \"bash\" not found. Did you mean one of: \"glob\"?"`,
		}},
		{name: "text between tools", lines: `
{"type":"message","role":"assistant","content":"I "}
{"type":"message","role":"assistant","content":"look."}
{"type":"tool_use","tool_id":"1","tool_name":"read","parameters":{}}
{"type":"tool_result","tool_id":"1","status":"success","output":"x"}
{"type":"message","role":"assistant","content":"I saw."}`, want: []string{
			`text "I look."`, "started 1 read {}", `completed 1 read "x" ""`, `text "\n\nI saw."`,
		}},
		{
			name: "end of unannounced tool", lines: `{"type":"tool_result","tool_id":"1","status":"error"}`,
			want: []string{`completed 1  "" "it failed"`},
		},
		{
			name: "todo list",
			lines: `{"type":"tool_use","tool_id":"1","tool_name":"write_todos","parameters":{"todos":[` +
				`{"description":"saw","status":"pending"}]}}`,
			want: []string{
				`started 1 write_todos {"todos":[{"description":"saw","status":"pending"}]}`, `plan pending "saw"`,
			},
		},
		{
			name: "usage",
			lines: `{"type":"result","status":"success","stats":{"total_tokens":20,"input_tokens":10,"cached":4,` +
				`"output_tokens":7}}`,
			want: []string{"used 6+4+0 7+3 unknown", "done"},
		},
		{
			name: "impossible usage",
			lines: `{"type":"result","status":"success","stats":{"total_tokens":2,"input_tokens":1,"cached":4,` +
				`"output_tokens":7}}`,
			want: []string{"used 0+4+0 7+0 unknown", "done"},
		},
		{name: "message of the user", lines: `{"type":"message","role":"user","content":"hi"}`},
		{
			name: "output of a failed tool", lines: `{"type":"tool_result","tool_id":"1","status":"error","output":"no file"}`,
			want: []string{`completed 1  "" "no file"`},
		},
		{
			name:  "error of a tool that succeeds",
			lines: `{"type":"tool_result","tool_id":"1","status":"success","output":"x","error":{"message":"y"}}`,
			want:  []string{`completed 1  "x" ""`},
		},
		{
			name: "failed", lines: `{"type":"result","status":"error","error":{"message":"no credit"}}`,
			want: []string{"used 0+0+0 0+0 unknown", "failed: no credit"},
		},
		{
			name: "warning", lines: `{"type":"error","severity":"warning","message":"loop"}`,
			want: []string{"retry 0/0 in 0s: loop"},
		},
		{
			name: "unparsed lines", lines: "YOLO\n{\"type\":\"news\"}\n{",
			want: []string{"unparsed: YOLO", "unparsed: {"},
		},
	})
}

func FuzzGemini(f *testing.F) {
	addRecordings(f, "gemini")
	fuzzParser(f, newGeminiParser)
}

func TestGeminiArguments(t *testing.T) {
	checkArguments(t, Gemini(), []argumentsTest{
		{Member{}, "--output-format stream-json"},
		{Member{Model: "m", Permissions: "read"}, "--output-format stream-json --approval-mode plan -m m"},
		{Member{Permissions: "edit"}, "--output-format stream-json --approval-mode auto_edit"},
		{Member{Permissions: "bypass"}, "--output-format stream-json --approval-mode yolo --skip-trust"},
		{
			Member{Model: "m", Permissions: "read", Args: []string{"-y", "--model=n", "-o", "text", "-s"}},
			"--output-format stream-json --approval-mode plan -m m -s",
		},
		{
			Member{Permissions: "edit", Args: []string{"--approval-mode=yolo", "--yolo", "--skip-trust"}},
			"--output-format stream-json --approval-mode auto_edit --skip-trust",
		},
		{Member{Args: []string{"-y"}}, "--output-format stream-json -y"},
		{Member{Args: []string{"--output-format", "json", "--sandbox"}}, "--output-format stream-json --sandbox"},
	})
}

func TestGeminiPromptLimits(t *testing.T) {
	const window = 4<<20 - 64<<10
	for _, tt := range []struct {
		letter string
		count  int
		excess int
	}{
		{"x", window, 0},
		{"x", window + 3, 3},
		{"é", window, 0},
		{"語", 8<<20/3 + 1, 1},      // bytes
		{"\uffff", 8 << 20 / 3, 0}, // the last one of one unit
		{"😀", 8<<20/4 - 1<<10, 2*(8<<20/4-1<<10) - window}, // of two units each
	} {
		if got := Gemini().Excess(Member{}, strings.Repeat(tt.letter, tt.count)); got != tt.excess {
			t.Errorf("%d times %s are %d too many, want %d", tt.count, tt.letter, got, tt.excess)
		}
	}
}

func TestGeminiRemedyForUntrustedDirectory(t *testing.T) {
	const reason = "it exited with code 55: Gemini CLI is not running in a trusted directory. To proceed …"
	if remedy := (profile{program: "other"}).remedy(reason); remedy.Advice != "retry, or run other directly to see more" {
		t.Errorf("the remedy of another agent is %q", remedy)
	}
	remedy := Gemini().profile.remedy(reason)
	if !strings.Contains(remedy.Advice, "GEMINI_CLI_TRUST_WORKSPACE") {
		t.Errorf("the remedy is %q", remedy)
	}
}

func TestACPPermissionsOverrideArguments(t *testing.T) {
	for permissions, want := range map[string]string{
		"": "gemini --acp --yolo --approval-mode yolo", Deny: "gemini --acp", Ask: "gemini --acp",
	} {
		args := []string{"--acp", "--yolo", "--approval-mode", "yolo"}
		line := new(ACP).CommandLine(Member{AgentType: "gemini", Permissions: permissions, Args: args})
		if got := strings.Join(line, " "); got != want {
			t.Errorf("with permissions %q it is started as %s, want %s", permissions, got, want)
		}
	}
}
