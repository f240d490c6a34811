package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
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

func TestResumeEndsOrphanedProcessesOfKilledChat(t *testing.T) {
	home := t.TempDir()
	chat := start(t, home, "chat", "-t", teamPath("asking.json"), "--output", "json")
	chat.enter("say I am ready.", "tool") // the second turn, in the program of the first
	chat.expect(`"type":"tool.started"`)
	chat.expect(`"type":"turn.text"`)
	_, journal := onlyJournal(t, home)
	tool := toolOf(t, journal)
	if !runs(tool) {
		t.Fatal("the tool does not run")
	}
	chat.signal(syscall.SIGKILL)
	<-chat.ended
	if !runs(tool) {
		t.Fatal("the tool ended with the chat")
	}

	_, stderr := do(t, home, exitDone, "chat", "--resume", "-m", "say I go on.")
	if runs(tool) {
		t.Error("the tool still runs")
	}
	if orphansLine(stderr) == "" {
		t.Errorf("the notice is missing: %s", stderr)
	}
	stdout, _ := do(t, home, exitDone, "replay", "latest")
	if !strings.HasPrefix(stdout,
		"Hugo: say I am ready.\nAda: I am ready.\nHugo: tool\nAda (unfinished): I run it.\n") ||
		!strings.HasSuffix(stdout, "Ada: I go on.\n") {
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
