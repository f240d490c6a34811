//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestATailEndsWhenItsSessionIsGoneOrAnother(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(t *testing.T, home, id, path string)
		code   int
		notes  string
	}{
		"deleted": {func(t *testing.T, home, id, _ string) {
			do(t, home, exitDone, "sessions", "delete", id, "--yes")
		}, exitNotFound, "sessions restore "},
		"cut": {func(t *testing.T, _, _, path string) {
			if err := os.Truncate(path, 100); err != nil {
				t.Error(err)
			}
		}, exitFailed, "is another one now"},
		"damaged in front of it and repaired": {func(t *testing.T, home, id, path string) {
			damageInPlace(t, path, "one")
			do(t, home, exitDone, "repair", id)
		}, exitFailed, "is another one now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			chat := start(t, home, "chat")
			chat.types("one", "two")
			chat.closeInput()
			chat.ends(exitDone)
			id, path := onlyJournal(t, home)
			tail := start(t, home, "tail", "-f")
			tail.says("session.ended")
			test.damage(t, home, id, path)
			tail.notes(test.notes)
			tail.ends(test.code)
		})
	}
}

// damageInPlace changes one byte and leaves the file its length all the time.
func damageInPlace(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteAt([]byte("X"), int64(strings.Index(readFile(t, path), text))); err != nil {
		t.Fatal(err)
	}
}

func TestATailEndsWhenNobodyReadsItAnyMore(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "hello")
	for _, args := range [][]string{{"tail", "-f", "-n", "1"}, {"tail", "-f", "--all", "-n", "1"}, {"chat", "--follow"}} {
		cmd := exec.Command("agent-chatter", args...)
		cmd.Env = append(cmd.Environ(), "AGENT_CHATTER_HOME="+home)
		read, write, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdout = write
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		write.Close()
		if _, err := bufio.NewReader(read).ReadString('\n'); err != nil {
			t.Errorf("%q printed no line: %v", args, err)
		}
		read.Close()
		_ = cmd.Wait() // which it does without another event
	}
}

func TestATailGoesOnWhenItsSessionIsArchivedAndComesBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	do(t, home, exitDone, "chat", "-m", "one")
	id, _ := onlyJournal(t, home)
	tail := start(t, home, "tail", "-f")
	tail.says("session.ended")
	for range 3 {
		do(t, home, exitDone, "compact", id, "--keep", "0", "--archive-after", "0s")
		do(t, home, exitDone, "chat", "--resume", id, "-m", "again")
		tail.says("again")
		tail.says("session.ended")
	}
}
