package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// maxFloodMemory is the largest amount of memory, in bytes, that a chat may need whatever its agent
// prints.
const maxFloodMemory = 200 << 20

// floodTeam has an agent that is the script agent.sh beside the team file.
const floodTeam = `{"schemaVersion": "1.2", "agents": [{"name": "agent", "command": "./agent.sh"}], "team": {
	"name": "flood", "description": "d", "members": [
		{"name": "hugo", "displayName": "Hugo", "role": "r", "type": "human", "baseDir": ".", "systemInstruction": ""},
		{"name": "ada", "displayName": "Ada", "role": "r", "type": "ai", "agentType": "agent", "engine": "ENGINE",
			"baseDir": ".", "systemInstruction": ""}]}}`

// TestFloodsOfAgentsNeedLittleMemory measures the memory of chats whose agents print 64 MiB.
func TestFloodsOfAgentsNeedLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	const claudeText = `{"type":"stream_event","event":{"delta":{"text":"one word after another, "}}}`
	const claudeTool = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"'$i'","name":"Bash"}]}}`
	for name, tt := range map[string]struct{ engine, script, message string }{
		"requests of ACP":  {"", "", "flood requests 64"},
		"questions of ACP": {"", "", "flood questions 64"},
		"thoughts of ACP":  {"", "", "flood thoughts 64"},
		"text of ACP":      {"", "", "flood text 64"},
		"tools of ACP":     {"", "", "flood tools 64"},
		"output of ACP":    {"", "", "flood output 64"},
		"plans of ACP":     {"", "", "flood plans 64"},
		"line of ACP":      {"", "", "line 32505856"},
		"text of a program": {
			"command", "yes 'one word after another' | head -c 67108864", "go",
		},
		"line of a program": {"command", "head -c 67108864 /dev/zero | tr '\\0' x", "go"},
		"text of Claude":    {"claude", "yes '" + claudeText + "' | head -c 67108864", "go"},
		"line of Claude":    {"claude", "head -c 67108864 /dev/zero | tr '\\0' x", "go"},
		"tools of Claude": {
			"claude", `seq 1 200000 | sed 's/.*/` + strings.ReplaceAll(claudeTool, "'$i'", "&") + `/'`, "go",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := teamPath("asking.json")
			if tt.script != "" {
				file = filepath.Join(t.TempDir(), "flood.json")
				team := strings.Replace(floodTeam, "ENGINE", tt.engine, 1)
				if err := os.WriteFile(file, []byte(team), 0o600); err != nil {
					t.Fatal(err)
				}
				script := []byte("#!/bin/sh\n" + tt.script + "\n")
				if err := os.WriteFile(filepath.Join(filepath.Dir(file), "agent.sh"), script, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			chat := start(t, t.TempDir(), "chat", "-t", file, "-m", tt.message)
			<-chat.ended
			if code := chat.cmd.ProcessState.ExitCode(); code != exitFailed && code != exitDone {
				t.Errorf("exit code %d: %s", code, chat.stderr)
			}
			memory := chat.cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
			t.Logf("%d MiB", memory>>20)
			if memory > maxFloodMemory {
				t.Errorf("the chat needs %d MiB", memory>>20)
			}
		})
	}
}
