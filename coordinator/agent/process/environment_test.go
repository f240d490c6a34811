package process

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEnvironmentOmitsVendorVariables(t *testing.T) {
	parent := []string{
		"HOME=/home/anna", "CLAUDE=kept", "MY_OPENAI_KEY=kept", "ANTHROPIC=kept",
		"ANTHROPIC_API_KEY=1", "CLAUDE_CODE_ENTRYPOINT=1", "CLAUDECODE=1", "OPENAI_API_KEY=1",
		"CODEX_HOME=1", "GEMINI_API_KEY=1", "GOOGLE_GEMINI_BASE_URL=1",
	}
	got := withoutOwner(environment(parent, Program{TurnID: "t1"}))
	want := []string{"HOME=/home/anna", "CLAUDE=kept", "MY_OPENAI_KEY=kept", "ANTHROPIC=kept", "AGENT_CHATTER_TURN=t1"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if parent[4] != "ANTHROPIC_API_KEY=1" {
		t.Error("the parent's environment was changed")
	}
}

func TestManualListsVendorVariables(t *testing.T) {
	page, err := os.ReadFile("../../../cmd/agent-chatter/guide/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, match := range regexp.MustCompile("`([A-Z_]+)…`").FindAllSubmatch(page, -1) {
		listed = append(listed, string(match[1]))
	}
	if !slices.Equal(listed, vendorPrefixes) {
		t.Errorf("the manual lists %q, want %q", listed, vendorPrefixes)
	}
}

func TestEnvironmentPrecedence(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "work")
	got := withoutOwner(environment([]string{"OPENAI_API_KEY=parent", "AGENT_CHATTER_TURN=outer"}, Program{
		TurnID: "t1",
		Dir:    dir,
		Env:    map[string]string{"OPENAI_API_KEY": "member", "AGENT_CHATTER_TURN": "forged"},
	}))
	want := []string{
		"AGENT_CHATTER_TURN=outer", "PWD=" + dir,
		"AGENT_CHATTER_TURN=forged", "OPENAI_API_KEY=member", "AGENT_CHATTER_TURN=t1",
	}
	if !slices.Equal(got, want) { // of a name that occurs twice the last one counts
		t.Errorf("got %q, want %q", got, want)
	}
}

// withoutOwner leaves out what is another one in every process, and on Linux alone.
func withoutOwner(env []string) []string {
	return slices.DeleteFunc(env, func(variable string) bool { return strings.HasPrefix(variable, ownerVariable+"=") })
}
