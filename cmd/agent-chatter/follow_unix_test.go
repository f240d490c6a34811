//go:build unix

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestAWatcherSeesWhatIsSaidAndHoldsNobodyUp(t *testing.T) {
	for name, begin := range map[string]func(*testing.T, string, ...string) *program{"in a pipe": start, "on a terminal": startOnTerminal} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one")
			id, path := onlyJournal(t, home)
			before := readFile(t, path)
			watcher := begin(t, home, "chat", "--follow")
			watcher.says("Hugo: one")
			watcher.says("Ada: ok")
			if readFile(t, path) != before {
				t.Error("the journal was written to")
			}
			chat := start(t, home, "chat", "--resume", id)
			for _, said := range []string{"two", "three"} {
				chat.types(said)
				watcher.says("Hugo: " + said)
				watcher.says("Ada: ok")
			}
			chat.closeInput()
			chat.ends(exitDone)
			do(t, home, exitDone, "chat", "--resume", "-m", "four")
			watcher.says("Hugo: four")
			watcher.says("Ada: ok")
			if name == "on a terminal" {
				watcher.presses(ctrlC)
			} else {
				watcher.signal(syscall.SIGINT)
			}
			watcher.ends(exitDone)
			if shown := watcher.stdout.String(); strings.Count(shown, "Hugo: ") != 4 || strings.Contains(shown, "turn.") {
				t.Errorf("a message was shown twice, or more than messages:\n%s", shown)
			}
			do(t, home, exitDone, "verify")
		})
	}
}

func TestAWatcherIsToldThatThereAreOlderMessages(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one", "-m", "two", "-m", "three", "-m", "four")
	id, _ := onlyJournal(t, home)
	watcher := start(t, home, "chat", "--follow")
	watcher.says("Hugo: two")
	watcher.signal(syscall.SIGINT)
	watcher.ends(exitDone)
	if shown := watcher.stderr.String(); !strings.Contains(shown, "… 2 older messages not shown here. To read all, type: agent-chatter replay "+id) {
		t.Errorf("it says\n%s", shown)
	}
}

func TestAWatcherIsToldWhatAnInterruptedTurnLeft(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	chat := start(t, home, "chat", "-t", teamPath("slow.json"))
	chat.types("take your time")
	tail := start(t, home, "tail", "-f")
	tail.says("turn.text")
	watcher := start(t, home, "chat", "--follow")
	watcher.says("Hugo: take your time")
	chat.signal(syscall.SIGTERM)
	chat.ends(exitInterrupted)
	watcher.says("Ada (unfinished): word1")
}

func TestAWatcherNamesASessionAsAResumeDoes(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one")
	id, path := onlyJournal(t, home)
	do(t, home, exitDone, "sessions", "rename", id, "the first")
	do(t, home, exitDone, "chat", "-m", "newer")
	elsewhere := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(elsewhere, []byte(readFile(t, path)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, names := range [][]string{
		{"--resume", id}, {"-r" + id}, {"--resume=" + id[len(id)-6:]}, {"--session", "the first"}, {"--session-file", path},
		{"--session-file", elsewhere}, {"-t", teamPath("capture.json"), "--resume"}, {"-t", teamPath("capture.json")},
	} {
		watcher := start(t, home, slices.Concat([]string{"chat", "--follow"}, names)...)
		watcher.says("Hugo: one")
	}
	for _, latest := range []string{"--continue", "--resume", "-c", "--resume=latest"} {
		watcher := start(t, home, "chat", latest, "--follow")
		watcher.says("You: newer")
	}
}

func TestAWatcherOfJSONSeesTheLinesOfTheJournal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-t", teamPath("capture.json"), "-m", "one")
	id, path := onlyJournal(t, home)
	watcher := start(t, home, "chat", "--follow", "--output", "json")
	watcher.says(`"session.ended"`)
	do(t, home, exitDone, "chat", "--resume", id, "-m", "two")
	watcher.says(`"session.ended"`)
	watcher.signal(syscall.SIGTERM)
	watcher.ends(exitDone)
	if diff := watcher.stdout.String(); diff != readFile(t, path) {
		t.Errorf("it printed:\n%s\nthe journal is:\n%s", diff, readFile(t, path))
	}
}
