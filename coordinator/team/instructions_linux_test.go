package team_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestInstructionsLeaveNoFileOpen(t *testing.T) {
	loaded, dir, _, _ := clone(t)
	place(t, dir, "work/AGENTS.md", "be brief")
	if got, err := instructions(loaded()); got != "be brief" || err != nil {
		t.Fatalf("%q, %v", got, err)
	}
	open, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if name, _ := os.Readlink(fd); strings.HasPrefix(name, dir) {
			t.Errorf("%s is open", name)
		}
	}
}
