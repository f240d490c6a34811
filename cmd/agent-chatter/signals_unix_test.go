//go:build unix

package main

import (
	"strings"
	"syscall"
	"testing"
)

var endings = map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP}

func TestSignalInATurnCancelsItAndSaves(t *testing.T) {
	for name, signal := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			chat := start(t, home, "chat", "-t", teamPath("slow.json"), "--output", "json")
			chat.types("take your time")
			chat.says("turn.text") // the agent is in the middle of its reply
			chat.signal(signal)
			chat.ends(exitInterrupted)

			_, path := onlyJournal(t, home)
			lines := strings.Split(strings.TrimSpace(readFile(t, path)), "\n")
			ended, over := lines[len(lines)-2], lines[len(lines)-1]
			if !strings.Contains(ended, `"type":"turn.ended"`) || !strings.Contains(ended, `"finishReason":"cancelled"`) || !strings.Contains(ended, `"partial":"word1 `) {
				t.Errorf("the turn ended with %s", ended)
			}
			if !strings.Contains(over, `"type":"session.ended"`) {
				t.Errorf("the session ended with %s", over)
			}
			do(t, home, exitDone, "verify")
			stdout, _ := do(t, home, exitDone, "replay", "latest")
			if !strings.Contains(stdout, "Ada (unfinished): word1 ") {
				t.Errorf("replay does not show what was said:\n%s", stdout)
			}
		})
	}
}

func TestSignalBetweenTurnsEndsInOrder(t *testing.T) {
	for name, signal := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			chat := start(t, home, "chat")
			chat.types("hello")
			chat.says("Critic: ")
			// The line that is refused comes after the end of the turn.
			chat.types("/help")
			chat.notes("/help")
			chat.signal(signal)
			chat.ends(exitDone)
			id, path := onlyJournal(t, home)
			if !strings.Contains(readFile(t, path), `"type":"session.ended"`) {
				t.Error("the session was not ended")
			}
			if !strings.Contains(chat.stderr.String(), "chat --resume "+id) {
				t.Errorf("how to go on is not said: %s", chat.stderr)
			}
			do(t, home, exitDone, "verify")
		})
	}
}

func TestSignalBeforeTheFirstWordLeavesNothing(t *testing.T) {
	home := t.TempDir() + "/home"
	chat := start(t, home, "chat")
	chat.types("/help")
	chat.notes("/help")
	chat.signal(syscall.SIGINT)
	chat.ends(exitDone)
	if stdout, _ := do(t, home, exitDone, "sessions"); stdout != "" {
		t.Errorf("there are sessions: %s", stdout)
	}
}
