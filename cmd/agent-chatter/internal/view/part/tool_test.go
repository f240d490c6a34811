package part

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/projection"
)

func TestToolText(t *testing.T) {
	for _, tt := range []struct{ name, input, want string }{
		{"Bash", `{"description":"List it","command":"ls -l"}`, "Bash: ls -l"},
		{"shell", `{"command":["bash","-lc","ls -l"],"workdir":"/"}`, "shell: bash -lc ls -l"},
		{"Read", `{"file_path":"/a/b.go","limit":10}`, "Read: /a/b.go"},
		{"Grep", `{"path":"/a","pattern":"x+"}`, "Grep: x+"},
		{"mystery", `{"depth":3,"wide":true}`, `mystery: {"depth":3,"wide":true}`},
		{"mystery", `["a",1]`, `mystery: ["a",1]`},
		{"mystery", `{"command":null,"path":"x"}`, "mystery: x"},
		{"mystery", `{"command":[],"cmd":"","depth":1}`, `mystery: {"command":[],"cmd":"","depth":1}`},
		{"mystery", `{}`, "mystery"},
		{"mystery", ``, "mystery"},
		{"a\x1b[31mb", `{"command":"c\u001b[2Jd"}`, "a␛[31mb: c␛[2Jd"},
		{"Write", `{"command":"` + strings.Repeat("é", 300) + `"}`, "Write: " + strings.Repeat("é", 199) + "…"},
	} {
		if got := ToolText(projection.ToolStarted{Name: tt.name, Input: []byte(tt.input)}); got != tt.want {
			t.Errorf("%s %s: got %q, want %q", tt.name, tt.input, got, tt.want)
		}
	}
}
