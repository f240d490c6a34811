package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// In 20 chats with three agents each, at most maxResident programs of agents run, and none is left when the chats are
// killed. Their places can be used at once.
func TestResidentsOfAHome(t *testing.T) {
	skipIfShort(t)
	const most = 8
	dir, home := t.TempDir(), t.TempDir()
	command := filepath.Join(dir, "claude")
	var members []string
	for _, name := range []string{"Ada", "Bo", "Cy"} {
		members = append(members, fmt.Sprintf(`{"name": %q, "displayName": %q, "role": "r", "type": "ai",
			"agentType": "claude", "permissions": "deny", "baseDir": ".", "systemInstruction": ""}`,
			strings.ToLower(name), name))
	}
	for path, text := range map[string]string{
		command: "#!/bin/sh\n" + standInClaude,
		filepath.Join(dir, "team.json"): fmt.Sprintf(`{"schemaVersion": "1.2", "agents": [{"name": "claude", "command": %q}],
			"team": {"name": "threes", "description": "d", "members": [{"name": "hugo", "displayName": "Hugo", "role": "r",
				"type": "human", "baseDir": ".", "systemInstruction": ""}, %s]}}`, command, strings.Join(members, ", ")),
	} {
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	chat := func() *program {
		p := start(t, home, "chat", "-t", filepath.Join(dir, "team.json"))
		p.enter("[NEXT: ada, bo, cy] go")
		p.expect("Cy: OK")
		return p
	}
	var chats []*program
	highest := 0
	for range 20 {
		chats = append(chats, chat())
		// A chat with a program that has waited longest was asked to end it.
		highest = max(highest, awaitProcesses(t, command, func(n int) bool { return n <= most }))
	}
	t.Logf("%d chats, at most %d programs", len(chats), highest)
	for _, p := range chats {
		_ = p.cmd.Process.Kill()
		<-p.ended
	}
	awaitProcesses(t, command, func(n int) bool { return n == 0 })
	last := chat()
	awaitProcesses(t, command, func(n int) bool { return n == 3 })
	last.closeInput()
	last.ends(exitDone)
	if left, _ := filepath.Glob(filepath.Join(home, "residents", "[1-3].lock")); len(left) > 0 {
		t.Errorf("files are left: %q", left)
	}
}

// awaitProcesses polls until the number of processes with a text in their command line satisfies a condition, and
// returns it. There is no notification.
func awaitProcesses(t *testing.T, text string, enough func(n int) bool) int {
	t.Helper()
	for end := time.Now().Add(testTimeout); ; time.Sleep(10 * time.Millisecond) {
		n := 0
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, path := range lines {
			if line, err := os.ReadFile(path); err == nil && strings.Contains(string(line), text) {
				n++
			}
		}
		if enough(n) {
			return n
		}
		if time.Now().After(end) {
			t.Fatalf("%d processes", n)
		}
	}
}
