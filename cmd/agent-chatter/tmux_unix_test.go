//go:build unix

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// TestSuspendedChat stops a chat with Ctrl+Z while an agent works. The shell has the terminal then, as it was, and
// the agent finishes. fg shows the answer, above one live region.
func TestSuspendedChat(t *testing.T) {
	programtest.Path(t, "bash")
	dir := t.TempDir()
	team, pipe, done := filepath.Join(dir, "team.json"), filepath.Join(dir, "pipe"), filepath.Join(dir, "done")
	content := strings.ReplaceAll(readFile(t, teamPath("capture.json")), "./capture.sh", "./speak.sh")
	err := errors.Join(os.WriteFile(team, []byte(content), 0o600), syscall.Mkfifo(pipe, 0o600),
		os.WriteFile(filepath.Join(dir, "speak.sh"), []byte("#!/bin/sh\ncat '"+pipe+"'\ntouch '"+done+"'\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	m := ttytest.Start(t, 80, 24, fmt.Sprintf("cd %s; AGENT_CHATTER_HOME=%s PS1='shell$ ' exec bash --norc --noprofile",
		dir, filepath.Join(dir, "home")))
	m.Expect("shell$ ")
	m.Press("stty -g > before; (agent-chatter chat -t team.json)", "Enter") // a shell in the group stands for go run
	m.Expect("hugo> ")
	m.Press("go", "Enter")
	reply, err := os.OpenFile(pipe, os.O_WRONLY, 0) // the agent runs
	if err != nil {
		t.Fatal(err)
	}
	m.Press("typed")
	m.Expect("> typed")
	m.Press("C-z")
	m.Expect("Stopped")
	m.Press("stty -g > stopped; jobs -s | wc -l; echo now", "Enter")
	m.Expect("\n1\nnow")
	if readFile(t, filepath.Join(dir, "before")) != readFile(t, filepath.Join(dir, "stopped")) {
		t.Error("the settings of the terminal are others while the chat is stopped")
	}
	if _, err := fmt.Fprint(reply, "- the answer\n"); err != nil {
		t.Fatal(err)
	}
	if err := reply.Close(); err != nil {
		t.Fatal(err)
	}
	for _, err := os.Stat(done); err != nil; _, err = os.Stat(done) { // the agent is not stopped
	}
	if strings.Contains(m.Text(), "the answer") {
		t.Error("the stopped chat writes to the terminal")
	}
	m.Press("fg", "Enter")
	m.Expect("• the answer")
	m.Expect("hugo> typed")
	if text := m.Text(); strings.Count(text, "hugo> ") != 1 || strings.Count(text, "the answer") != 1 {
		t.Errorf("the answer or the input box is not there once:\n%s", text)
	}
	m.Press("C-c", "C-c", "C-c")
	m.ExpectTimes("shell$ ", 4) // at first, after Ctrl+Z, after the check, and at the end
}

// chatOnTmux starts a chat. sent ends it and returns the messages of the person.
func chatOnTmux(t *testing.T) (m *ttytest.Tmux, sent func() []string) {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	m = ttytest.Start(t, 80, 24, fmt.Sprintf("AGENT_CHATTER_HOME=%s agent-chatter chat -t %s; echo ended; exec cat",
		home, teamPath("capture.json")))
	m.Expect("hugo> ")
	return m, func() (messages []string) {
		t.Helper()
		m.Press("C-d")
		m.Expect("ended")
		cmd := exec.Command("agent-chatter", "replay", "latest", "--output", "json")
		cmd.Env = append(cmd.Environ(), "AGENT_CHATTER_HOME="+home)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(out)) {
			var message struct {
				Content string
				Speaker struct{ Type string }
			}
			if err := json.Unmarshal([]byte(line), &message); err != nil {
				t.Fatal(err)
			}
			if message.Speaker.Type == "human" {
				messages = append(messages, message.Content)
			}
		}
		return messages
	}
}

func TestPasteIntoChat(t *testing.T) {
	m, sent := chatOnTmux(t)
	lines := strings.Repeat("a pasted line, /end\r\n", 200)
	m.Run("set-buffer", lines)
	m.Press("look: ")
	m.Run("paste-buffer", "-p", "-r")
	m.Expect("hugo> look: [paste: 200 lines]")
	m.Press(" end", "Enter")
	m.Expect("Ada")
	m.Expect("\n\nhugo> ")
	want := "look: " + strings.Repeat("a pasted line, /end\n", 200) + " end"
	if got := sent(); len(got) != 1 || got[0] != want {
		t.Errorf("sent: %q", got)
	}
}

// TestKeysInChat presses keys as tmux encodes them.
func TestKeysInChat(t *testing.T) {
	m, sent := chatOnTmux(t)
	m.Press("two three", "Home", "one ", "End", " for", "BSpace", "BSpace", "BSpace", "four") // one two three four
	m.Press("C-Left", "M-b", "big ", "C-Right", "er", "M-BSpace", "four")                     // one two big four four
	m.Press("C-a", "M-d", "C-e", " five", "C-w", "C-w", "C-_", "M-Enter")                     // two big four four
	m.Press("next", "C-j", "x", "C-u", "C-y", "y", "Left", "Delete", "Enter")
	m.Expect("Ada")
	m.Expect("\n\nhugo> ")
	m.Press("Up", "Up", "C-a", "again ", "Enter") // the last message, in its second line
	m.ExpectTimes("Ada", 2)
	m.Expect("\n\nhugo> ")
	want := []string{" two big four four \nnext\nx", " two big four four \nagain next\nx"}
	if got := sent(); !slices.Equal(got, want) {
		t.Errorf("sent: %q, want %q", got, want)
	}
}

// TestCaretInChat looks for the terminal's cursor after each key.
func TestCaretInChat(t *testing.T) {
	m, _ := chatOnTmux(t)
	lead := len("hugo> ")
	row := -1
	for _, step := range []struct {
		key         string
		row, column int // from the beginning of the text
	}{
		{"a", 0, 1}, {"界", 0, 3}, {"e\u0301", 0, 4}, {"🫖", 0, 6}, {"Left", 0, 4}, {"Left", 0, 3}, {"Left", 0, 1},
		{"Home", 0, 0}, {"End", 0, 6}, {"C-j", 1, 0}, {"b", 1, 1}, {"Up", 0, 1}, {"C-e", 0, 6}, {"BSpace", 0, 4},
	} {
		m.Press(step.key)
		var x, y int
		m.Await(func() bool {
			var shown int
			_, err := fmt.Sscan(m.Run("display-message", "-p", "#{cursor_flag} #{cursor_x} #{cursor_y}"), &shown, &x, &y)
			if row < 0 && err == nil && shown == 1 && x == lead+step.column {
				row = y
			}
			return err == nil && shown == 1 && x == lead+step.column && y == row+step.row
		})
	}
}

// TestTitleOfChat looks at the title of the terminal, which is given back at the end.
func TestTitleOfChat(t *testing.T) {
	m := ttytest.Start(t, 100, 24, fmt.Sprintf("AGENT_CHATTER_HOME=%s agent-chatter chat -t %s; echo ended; exec cat",
		filepath.Join(t.TempDir(), "home"), teamPath("asking.json")))
	m.Expect("hugo> ")
	first := m.Title()
	m.Press("ask rm", "Enter")
	m.Await(func() bool { return m.Title() == "? Ada asks" })
	m.Press("n", "Enter")
	m.Await(func() bool { return m.Title() == "✓ "+first })
	m.Press("C-d")
	m.Expect("ended")
	m.Await(func() bool { return m.Title() != "✓ "+first })
}
