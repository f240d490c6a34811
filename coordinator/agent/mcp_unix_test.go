//go:build unix

package agent_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
)

// testServers are the program's own server, and some of an editor.
var testServers = []agent.MCPServer{
	{Name: "agent-chatter", Setting: "recall", ReadOnly: true, Command: "/bin/own", Args: []string{"mcp", "a\"b"}},
	{Name: "files", Command: "files", Env: map[string]string{"FILES_TOKEN": "files-secret", "PATH": "/other"}},
	{Name: "web", Type: "http", URL: "http://h/mcp", Headers: map[string]string{"Authorization": "Bearer web-secret"}},
	{Name: "old", Type: "sse", URL: "http://h/sse", Headers: map[string]string{"X-Key": "old-secret"}},
}

// launched runs a turn with the test servers, and returns the arguments and the environment of the agent, and the
// settings that it reported as unsupported. copied is a copy of the file that an argument with the prefix names.
func launched(
	t *testing.T, e agent.Engine, result, prefix string,
) (args []string, env string, copied []byte, settings []string) {
	t.Helper()
	turn := scriptedCLI(t, `printf '%s\n' "$@" > args; env > env
		for a in "$@"; do case "$a" in `+prefix+`*) f="${a#*=}"; cat "$f" > copied; ls -ld "$f" > mode; ls -ld "${f%/*}" >> mode;; esac; done
		`+result)
	turn.MCPServers = testServers
	settings, _ = unsupported(t, e, turn)
	read := func(name string) string {
		content, err := os.ReadFile(filepath.Join(turn.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	args = strings.Split(strings.TrimSpace(read("args")), "\n")
	if strings.Contains(read("args"), "-secret") {
		t.Errorf("the arguments have a secret: %q", args)
	}
	if prefix == "" {
		return args, read("env"), nil, settings
	}
	modes := strings.Split(read("mode"), "\n")
	if !strings.HasPrefix(modes[0], "-rw-------") || !strings.HasPrefix(modes[1], "drwx------") {
		t.Errorf("others can read the file: %q", modes)
	}
	file := strings.Fields(modes[0])
	if _, err := os.Stat(filepath.Dir(file[len(file)-1])); !os.IsNotExist(err) {
		t.Errorf("after the turn the directory of the file is there: %v", err)
	}
	return args, read("env"), []byte(read("copied")), settings
}

func TestClaudeGetsServers(t *testing.T) {
	args, env, copied, settings := launched(t, claude, claudeStart+claudeHi+claudeDone, "--mcp-config=")
	if !slices.Contains(args, "--allowedTools=mcp__agent-chatter") || strings.Contains(env, "-secret") || settings != nil {
		t.Errorf("the arguments are %q, unsupported %q", args, settings)
	}
	for _, allowed := range args {
		if strings.HasPrefix(allowed, "--allowedTools=mcp__") && allowed != "--allowedTools=mcp__agent-chatter" {
			t.Errorf("it is allowed %s", allowed)
		}
	}
	var got, want any
	if err := json.Unmarshal(copied, &got); err != nil {
		t.Fatal(err)
	}
	_ = json.Unmarshal([]byte(`{"mcpServers":{
		"agent-chatter":{"command":"/bin/own","args":["mcp","a\"b"]},
		"files":{"command":"files","env":{"FILES_TOKEN":"files-secret","PATH":"/other"}},
		"web":{"type":"http","url":"http://h/mcp","headers":{"Authorization":"Bearer web-secret"}},
		"old":{"type":"sse","url":"http://h/sse","headers":{"X-Key":"old-secret"}}}}`), &want)
	if a, b := mustJSON(t, got), mustJSON(t, want); a != b {
		t.Errorf("the servers are\n%s\nwant\n%s", a, b)
	}
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEnginesWithoutToolsReportServers(t *testing.T) {
	echo := script(t, "echo hi")
	echo.MCPServers = testServers
	for name, e := range map[string]agent.Engine{"a program": graceful, "the demo": agent.Demo{}} {
		if settings, _ := unsupported(t, e, echo); !slices.Equal(settings, []string{"recall", agent.SettingMCPServers}) {
			t.Errorf("%s reported %q", name, settings)
		}
	}
}
