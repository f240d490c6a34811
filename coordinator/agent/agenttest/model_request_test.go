package agenttest

import (
	"encoding/json"
	"testing"
)

func TestDecodeMessages(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		user       string
		toolDone   bool
		input      string
	}{
		{"Anthropic", `{
			"messages": [{"role": "user", "content": [{"type": "text", "text": "go"}]}],
			"tools": [{"name": "Bash", "input_schema": {"properties": {"command": {"type": "string"}, "description": {}}}}]
		}`, "go", false, `{"command":"ls","description":"as instructed"}`},
		{"Anthropic, a tool result", `{
			"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": []},
				{"role": "user", "content": [{"type": "tool_result", "content": "done"}]}],
			"tools": [{"name": "Bash"}]
		}`, "", true, `{"command":"ls"}`},
		{"Anthropic, two tool results", `{
			"messages": [{"role": "user", "content": [{"type": "tool_result"}, {"type": "tool_result"}]}],
			"tools": [{"name": "Bash"}]
		}`, "", true, `{"command":"ls"}`},
		{"OpenAI", `{
			"messages": [{"role": "user", "content": "go"}],
			"tools": [{"type": "function", "function": {"name": "shell", "parameters": {"properties": {"command": {"type": "array"}}}}}]
		}`, "go", false, `{"command":["bash","-lc","ls"]}`},
		{"OpenAI, a tool result", `{
			"messages": [{"role": "user", "content": "go"}, {"role": "assistant"}, {"role": "tool", "content": "done"}],
			"tools": [{"function": {"name": "exec_command", "parameters": {"properties": {"cmd": {}}}}}]
		}`, "go", true, `{"cmd":"ls"}`},
		{"OpenAI, a reply after a tool result", `{
			"messages": [{"role": "user", "content": "go"}, {"role": "tool"}, {"role": "assistant", "content": "done"}],
			"tools": [{"function": {"name": "bash"}}]
		}`, "go", false, `{"command":"ls"}`},
	} {
		r := decodeMessages([]byte(tt.body))
		tool, found := r.shell()
		input, err := json.Marshal(tool.input("ls", false))
		if err != nil {
			t.Fatal(err)
		}
		if r.user != tt.user || r.toolDone != tt.toolDone || !found || string(input) != tt.input || len(r.tools) != 1 {
			t.Errorf("%s: got %+v and the input %s", tt.name, r, input)
		}
	}
}
