//go:build unix

package main

import (
	"fmt"
	"strings"
	"testing"
)

func TestSecondWriterIsRefusedAndToldWhoHoldsTheSession(t *testing.T) {
	home := t.TempDir()
	first := start(t, home, "chat")
	first.types("hello")
	first.says("Critic: ")
	id, path := onlyJournal(t, home)
	before := readFile(t, path)

	holder := fmt.Sprintf("process %d ", first.cmd.Process.Pid)
	for _, args := range [][]string{
		{"chat", "--resume", "-m", "me, too"},
		{"chat", "--resume", id, "-m", "me, too"},
		{"chat", "--session-file", path, "-m", "me, too"},
		{"sessions", "delete", id, "--yes"},
	} {
		_, stderr := do(t, home, exitLocked, args...)
		if !strings.Contains(stderr, id) || !strings.Contains(stderr, holder) {
			t.Errorf("%q does not name %s and %s: %s", args, id, holder, stderr)
		}
	}
	stdout, _ := do(t, home, exitDone, "compact", "--keep", "0", "--archive-after", "0s")
	if !strings.Contains(stdout, "skipped") {
		t.Errorf("compact of a session in use: %s", stdout)
	}
	if readFile(t, path) != before {
		t.Error("the journal has changed")
	}

	// Reading is for everybody, and the first goes on as if nothing had been.
	do(t, home, exitDone, "replay", id)
	do(t, home, exitDone, "verify", id)
	first.types("and again")
	first.says("“and again”")
	first.closeInput()
	first.ends(exitDone)
	do(t, home, exitDone, "chat", "--resume", "-m", "me, too")
	do(t, home, exitDone, "verify")
}
