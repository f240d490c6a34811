package agent

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The manual lists the options that permissions override.
func TestManualListsOverriddenOptions(t *testing.T) {
	page, err := os.ReadFile("../../cmd/agent-chatter/guide/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []profile{Claude().profile, Codex().profile, Gemini().profile} {
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
