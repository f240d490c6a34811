package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

// toolOf returns the process of the last tool that a journal records.
func toolOf(t *testing.T, journal string) (pid int) {
	t.Helper()
	for line := range strings.Lines(readFile(t, journal)) {
		var e struct {
			Type string
			Data struct{ Input struct{ PID int } }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Type == "tool.started" {
			pid = e.Data.Input.PID
		}
	}
	if pid == 0 {
		t.Fatalf("no tool in %s", journal)
	}
	return pid
}

// runs reports whether a process is running.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return !strings.HasPrefix(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " Z")
}

// shellTeam has an agent that ignores signals, and starts a tool in a session of its own and one in
// its process group.
const shellTeam = `{"schemaVersion": "1.2", "agents": [{"name": "sh", "command": "/bin/sh", "args": ["-c",
	"trap '' INT TERM HUP; setsid sleep 300 & sleep 300 & echo working; wait"]}], "team": {"name": "shells",
	"description": "d", "members": [
		{"name": "hugo", "displayName": "Hugo", "role": "r", "type": "human", "baseDir": ".", "systemInstruction": ""},
		{"name": "ada", "displayName": "Ada", "role": "r", "type": "ai", "agentType": "sh", "baseDir": ".",
			"systemInstruction": ""}]}}`

func TestKilledChatLeavesNoProcess(t *testing.T) {
	dir := t.TempDir()
	shells, staying := filepath.Join(dir, "shells.json"), filepath.Join(dir, "staying.json")
	stays := strings.ReplaceAll(readFile(t, teamPath("asking.json")), `"command": "acp-agent"`, `"command": "./stays.sh"`)
	err := errors.Join(os.WriteFile(shells, []byte(shellTeam), 0o600), os.WriteFile(staying, []byte(stays), 0o600),
		os.WriteFile(filepath.Join(dir, "stays.sh"), []byte("#!/bin/sh\nacp-agent\nexec sleep 600\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		team     string
		messages []string
		last     string // in the output before the kill
	}{
		"tool of the first turn": {teamPath("asking.json"), []string{"tool"}, `"type":"tool.started"`},
		"tool of a later turn":   {teamPath("asking.json"), []string{"say I am ready.", "tool"}, `"type":"tool.started"`},
		"idle agent":             {teamPath("asking.json"), []string{"say I am ready."}, `"type":"turn.ended"`},
		"idle agent that stays":  {staying, []string{"say I am ready."}, `"type":"turn.ended"`},
		"shell":                  {shells, []string{"go"}, `"text":"working`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			chat := start(t, home, "chat", "-t", tt.team, "--output", "json")
			chat.enter(tt.messages...)
			chat.expect(tt.last)
			_, journal := onlyJournal(t, home)
			turns := turnsOf(t, journal)
			guard := agenttest.GuardOf(t, chat.cmd.Process.Pid)
			if len(agenttest.Running(turns...)) == 0 {
				t.Fatal("no process runs")
			}
			awaitGuard := agenttest.ExitOf(t, guard)
			chat.signal(syscall.SIGKILL)
			<-chat.ended
			awaitGuard()
			for pid, command := range agenttest.Running(turns...) {
				if runs(pid) {
					t.Errorf("process %d still runs: %s", pid, command)
				}
			}
		})
	}
}

// turnsOf returns the ids of the turns in a journal.
func turnsOf(t *testing.T, journal string) (ids []string) {
	t.Helper()
	for line := range strings.Lines(readFile(t, journal)) {
		var e struct {
			Type string
			Data struct{ TurnID string }
		}
		if json.Unmarshal([]byte(line), &e) == nil && e.Type == "turn.started" {
			ids = append(ids, e.Data.TurnID)
		}
	}
	return ids
}

func TestResumeEndsOrphanedProcessesOfKilledChat(t *testing.T) {
	home := t.TempDir()
	chat := start(t, home, "chat", "-t", teamPath("asking.json"), "--output", "json")
	chat.enter("say I am ready.", "tool") // the second turn, in the program of the first
	chat.expect(`"type":"turn.text"`)
	chat.expect(`"type":"tool.started"`)
	_, journal := onlyJournal(t, home)
	tool := toolOf(t, journal)
	if !runs(tool) {
		t.Fatal("the tool does not run")
	}
	if err := syscall.Kill(agenttest.GuardOf(t, chat.cmd.Process.Pid), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	chat.signal(syscall.SIGKILL)
	<-chat.ended
	if !runs(tool) {
		t.Fatal("the tool ended with the chat")
	}

	_, stderr := do(t, home, exitDone, "chat", "--resume", "-m", "say I continue.")
	if runs(tool) {
		t.Error("the tool still runs")
	}
	if orphansLine(stderr) == "" {
		t.Errorf("the notice is missing: %s", stderr)
	}
	stdout, _ := do(t, home, exitDone, "replay", "latest")
	if !strings.HasPrefix(stdout,
		"Hugo: say I am ready.\nAda: I am ready.\nHugo: tool\nAda (unfinished): I run it.\n") ||
		!strings.HasSuffix(stdout, "Ada: I continue.\n") {
		t.Errorf("replay shows\n%s", stdout)
	}
	do(t, home, exitDone, "verify")
}

func TestSignalInTurnEndsTools(t *testing.T) {
	for name, signal := range map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM,
		"SIGHUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			chat := start(t, home, "chat", "-t", teamPath("asking.json"), "--output", "json")
			chat.enter("tool")
			chat.expect(`"type":"tool.started"`)
			_, journal := onlyJournal(t, home)
			tool := toolOf(t, journal)
			chat.signal(signal)
			chat.ends(exitInterrupted)
			if runs(tool) {
				t.Error("the tool still runs")
			}
		})
	}
}
