//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
)

func TestMessageOf16MiBThroughAPipe(t *testing.T) {
	skipIfShort(t)
	racetest.Skip(t, "TestTerminal runs the same goroutines")
	home := t.TempDir()
	t.Setenv("REPLY", "read")
	chat := start(t, home, "chat", "-t", teamPath("capture.json"))
	long := strings.Repeat("0123456789abcde ", 1<<20)
	chat.enter(long+"end", "and again")
	chat.closeInput()
	chat.ends(exitDone)
	if got := chat.stdout.String(); got != "Ada: read\nAda: read\n" {
		t.Fatalf("the answers are %.200q", got)
	}
	stdout, _ := do(t, home, exitDone, "replay", "latest", "--output", "json")
	var first struct{ Content string }
	if err := json.NewDecoder(strings.NewReader(stdout)).Decode(&first); err != nil {
		t.Fatal(err)
	}
	if first.Content != long+"end" {
		t.Errorf("the message has %d bytes, want %d", len(first.Content), len(long)+3)
	}
	do(t, home, exitDone, "verify")
	do(t, home, exitDone, "chat", "--resume", "-m", "third")
	list, _ := do(t, home, exitDone, "sessions")
	if !strings.Contains(list, "0123456789abcde") || len(list) > 300 {
		t.Errorf("the list is %.500s", list)
	}
}

func TestMessageOverLineLimitIsRefused(t *testing.T) {
	skipIfShort(t)
	home := t.TempDir()
	t.Setenv("REPLY", "read")
	chat := start(t, home, "chat", "-t", teamPath("capture.json"))
	chat.enter("hello", strings.Repeat("x", 65<<20), "and again")
	chat.closeInput()
	chat.ends(exitFailed)
	if got := chat.stdout.String(); got != "Ada: read\nAda: read\n" {
		t.Errorf("the answers are %.200q", got)
	}
	if !strings.Contains(chat.stderr.String(), fmt.Sprintf("the limit is %d", journal.DefaultMaxLine)) {
		t.Errorf("the reason is missing: %.500s", chat.stderr)
	}
	do(t, home, exitDone, "verify")
}
