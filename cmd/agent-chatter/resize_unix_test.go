//go:build unix

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
)

// TestResizedChatKeepsLines resizes the terminal of a chat at random moments while an agent speaks. Each line of the
// reply is then there once and in order, and there is one live region.
func TestResizedChatKeepsLines(t *testing.T) {
	dir := t.TempDir()
	team, pipe := filepath.Join(dir, "team.json"), filepath.Join(dir, "pipe")
	content := strings.ReplaceAll(readFile(t, teamPath("capture.json")), "./capture.sh", "./speak.sh")
	err := errors.Join(os.WriteFile(team, []byte(content), 0o600), syscall.Mkfifo(pipe, 0o600),
		os.WriteFile(filepath.Join(dir, "speak.sh"), []byte("#!/bin/sh\ncat '"+pipe+"'\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	m := ttytest.Start(t, 80, 24, fmt.Sprintf("AGENT_CHATTER_HOME=%s agent-chatter chat -t %s; echo ended; exec cat",
		filepath.Join(dir, "home"), team))
	m.Expect("hugo> ")
	m.Press("go", "Enter")
	reply, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	lines := 0
	for range 50 {
		for range 1 + random.IntN(20) {
			lines++
			if _, err := fmt.Fprintf(reply, "- item %d\n", lines); err != nil {
				t.Fatal(err)
			}
		}
		if random.IntN(2) == 0 {
			m.Expect(fmt.Sprintf("item %d", lines))
		}
		m.Run("resize-window", "-x", strconv.Itoa(20+random.IntN(100)), "-y", strconv.Itoa(5+random.IntN(35)))
	}
	if err := reply.Close(); err != nil {
		t.Fatal(err)
	}
	m.Run("resize-window", "-x", "150", "-y", "30")
	wide := strings.Repeat("y", 130)
	m.Press(wide)
	m.Expect("hugo> " + wide) // tmux resizes late
	m.Press("C-u", "/end")
	m.Expect("hugo> /end")
	text := m.Text()
	items := regexp.MustCompile(`item (\d+)\b`).FindAllStringSubmatch(text, -1)
	for i := range max(lines, len(items)) {
		if i >= len(items) || i >= lines || items[i][1] != strconv.Itoa(i+1) {
			t.Fatalf("of %d items, number %d is lost, repeated or misplaced:\n%s", lines, i+1, text)
		}
	}
	if boxes := regexp.MustCompile(`(?m)^(hugo)?>`).FindAllString(text, -1); len(boxes) != 1 {
		t.Errorf("there are %d input boxes:\n%s", len(boxes), text)
	}
	if strings.Contains(text, "thinks") {
		t.Errorf("a row of the status is left:\n%s", text)
	}
	m.Press("Enter")
	m.Expect("ended")
}

// TestResizedPanel resizes the terminal while three agents speak at the same time, and another one is chosen. Each reply
// is then there once, whole, below the name of its member.
func TestResizedPanel(t *testing.T) {
	dir := t.TempDir()
	team := filepath.Join(dir, "team.json")
	content := readFile(t, teamPath("asking.json"))
	content = regexp.MustCompile(`"permissions": "\w+",`).ReplaceAllString(content, "")
	content = strings.ReplaceAll(content, `"engine": "acp",`, `"engine": "acp", "permissions": "read",`)
	if err := os.WriteFile(team, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	m := ttytest.Start(t, 80, 24, fmt.Sprintf("AGENT_CHATTER_HOME=%s agent-chatter chat -t %s; echo ended; exec cat",
		filepath.Join(dir, "home"), team))
	m.Expect("hugo> ")
	const words = 60
	m.Press(fmt.Sprintf("slow %d [NEXT: ada | bea | cleo]", words), "Enter")
	m.Expect("▸ 1")
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		m.Press([]string{"Tab", "2", "3"}[random.IntN(3)])
		m.Run("resize-window", "-x", strconv.Itoa(40+random.IntN(80)), "-y", strconv.Itoa(8+random.IntN(32)))
	}
	m.Run("resize-window", "-x", "150", "-y", "30")
	m.Expect("hugo> ")
	wide := strings.Repeat("y", 130)
	m.Press("C-u", wide)
	m.Expect("hugo> " + wide)
	text := m.Text()
	reply := ""
	for n := range words {
		reply += fmt.Sprintf("w%d", n)
	}
	flat := strings.Join(strings.Fields(text), "")
	for _, name := range []string{"Ada", "Bea", "Cleo"} {
		if n := strings.Count(flat, name+reply); n != 1 {
			t.Errorf("the reply of %s is there %d times", name, n)
		}
	}
	if strings.Contains(text, "▸") || strings.Contains(text, "thinks") || t.Failed() {
		t.Errorf("the screen:\n%s", text)
	}
}
