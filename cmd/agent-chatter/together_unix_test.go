//go:build unix

package main

import (
	"fmt"
	"strings"
	"syscall"
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

func TestTailPrintsANewSessionAsItIsAppended(t *testing.T) {
	home := t.TempDir()
	tail := start(t, home, "tail", "-f", "--output", "json")
	tail.notes("waiting")
	do(t, home, exitDone, "chat", "-m", "one", "-m", "two", "-m", "three")
	tail.says("session.ended")
	tail.signal(syscall.SIGINT)
	tail.ends(exitDone)
	_, path := onlyJournal(t, home)
	if want, got := readFile(t, path), tail.stdout.String(); got != want {
		t.Errorf("tail printed\n%s\nthe journal is\n%s", got, want)
	}
}

func TestTailPrintsWhatIsAppendedToAResumedSession(t *testing.T) {
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "one")
	id, path := onlyJournal(t, home)
	before := readFile(t, path)
	lines := strings.SplitAfter(before, "\n")
	last := lines[len(lines)-2]

	tail := start(t, home, "tail", "-f", "-n", "1", "--output", "json")
	tail.says(last) // it stands behind the last line now
	chat := start(t, home, "chat", "--resume", id, "--output", "json")
	chat.types("two", "three")
	chat.closeInput()
	chat.ends(exitDone)
	appended := strings.TrimPrefix(readFile(t, path), before)
	tail.says(appended)
	// Another session is never taken for this one.
	do(t, home, exitDone, "chat", "-m", "another")
	do(t, home, exitDone, "chat", "--resume", id, "-m", "four")
	all := strings.TrimPrefix(readFile(t, path), before)
	tail.says(strings.TrimPrefix(all, appended))
	tail.signal(syscall.SIGTERM)
	tail.ends(exitDone)
	if got := tail.stdout.String(); got != last+all {
		t.Errorf("tail printed\n%s\nwant\n%s", got, last+all)
	}
	if got := chat.stdout.String(); got != appended {
		t.Errorf("chat printed\n%s\nwant\n%s", got, appended)
	}
}
