package agent

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestCommandLines(t *testing.T) {
	for _, tt := range []struct {
		engine interface{ CommandLine(m Member) []string }
		member Member
		want   string
	}{
		{Command{}, Member{Command: "cat", Args: []string{"-n"}}, "cat -n"},
		{new(ACP), Member{AgentType: "opencode", Args: []string{"-x"}}, "opencode acp -x"},
		{new(ACP), Member{AgentType: "claude-code", Command: "c"}, "c"},
		{new(ACP), Member{AgentType: "mine", Command: "c", Args: []string{"-x"}}, "c -x"},
	} {
		if got := strings.Join(tt.engine.CommandLine(tt.member), " "); got != tt.want {
			t.Errorf("%+v: got %q, want %q", tt.member, got, tt.want)
		}
	}
}

// The manual lists the options that permissions override.
func TestManualListsOverriddenOptions(t *testing.T) {
	page, err := os.ReadFile("../../cmd/agent-chatter/guide/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []profile{claudeProfile, codexProfile, geminiProfile, agyProfile} {
		line := regexp.MustCompile("(?m)^- of " + p.name + " (.*)").FindSubmatch(page)
		if line == nil {
			t.Errorf("nothing is listed of %s", p.name)
			continue
		}
		var listed []string
		for _, match := range regexp.MustCompile("`([^`]*)`").FindAllSubmatch(line[1], -1) {
			listed = append(listed, string(match[1]))
		}
		long := slices.DeleteFunc(slices.Clone(p.permits), func(o string) bool { return !strings.HasPrefix(o, "--") })
		if !slices.Equal(listed, long) {
			t.Errorf("of %s %q are listed, want %q", p.name, listed, long)
		}
	}
}
