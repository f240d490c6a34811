package memory

import (
	"errors"
	"flag"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

var allFloods = flag.Bool("floods", false, "run every flood of events in every kind of chat")

// maxFloodMemory is the largest amount of memory, in bytes, that a chat may need whatever its agent
// prints.
const maxFloodMemory = 200 << 20

// floodTeam has an agent that is the script agent.sh beside the team file.
const floodTeam = `{"schemaVersion": "1.2", "agents": [{"name": "agent", "command": "./agent.sh"}], "team": {
	"name": "flood", "description": "d", "members": [
		{"name": "hugo", "displayName": "Hugo", "role": "r", "type": "human", "baseDir": ".", "systemInstruction": ""},
		{"name": "ada", "displayName": "Ada", "role": "r", "type": "ai", "agentType": "agent", "engine": "ENGINE",
			"baseDir": ".", "systemInstruction": ""}]}}`

// A flood is an agent that prints 64 MiB: the agent of asking.json, or a script.
type flood struct {
	engine, script string // "" is the agent of asking.json
	message        string
	recorded       bool // it consists of events, which are in memory unless they are saved
}

// floods returns the floods by name.
func floods() map[string]flood {
	const text = `{"type":"stream_event","event":{"delta":{"text":"one word after another, "}}}`
	const tool = `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"&","name":"Bash"}]}}`
	return map[string]flood{
		"requests of ACP":     {message: "flood requests 64"},
		"questions of ACP":    {message: "flood questions 64"},
		"thoughts of ACP":     {message: "flood thoughts 64"},
		"text of ACP":         {message: "flood text 64", recorded: true},
		"tools of ACP":        {message: "flood tools 64", recorded: true},
		"output of ACP":       {message: "flood output 64", recorded: true},
		"plans of ACP":        {message: "flood plans 64", recorded: true},
		"line of ACP":         {message: "line 32505856"},
		"text of a program":   {"command", "yes 'one word after another' | head -c 67108864", "go", true},
		"line of a program":   {"command", "head -c 67108864 /dev/zero | tr '\\0' x", "go", false},
		"errors of a program": {"command", "yes 'one word after another' | head -c 67108864 >&2", "go", true},
		"text of Claude":      {"claude", "yes '" + text + "' | head -c 67108864", "go", true},
		"line of Claude":      {"claude", "head -c 67108864 /dev/zero | tr '\\0' x", "go", false},
		"tools of Claude":     {"claude", "seq 1 400000 | sed 's/.*/" + tool + "/'", "go", true},
	}
}

// TestFloodsOfAgentsNeedLittleMemory measures the memory of chats whose agents print 64 MiB: of chats that are saved,
// and of chats whose events stay in memory. Without -floods, a flood of events is in one of these chats.
func TestFloodsOfAgentsNeedLittleMemory(t *testing.T) {
	sizetest.SkipUnlessFull(t, "takes minutes")
	all := floods()
	modes := []struct{ name, flag string }{
		{"saved", ""}, {"never saved", "--no-save"}, {"saved on demand", "--no-auto-save"}, {onFullDisk, ""},
	}
	recorded := 0
	for _, name := range slices.Sorted(maps.Keys(all)) {
		f := all[name]
		if !f.recorded {
			t.Run(name, func(t *testing.T) { f.check(t, "saved", "") })
			continue
		}
		for i, mode := range modes {
			if *allFloods || i == recorded%len(modes) {
				t.Run(name+", "+mode.name, func(t *testing.T) { f.check(t, mode.name, mode.flag) })
			}
		}
		recorded++
	}
}

// onFullDisk is the mode of a chat that cannot write its files.
const onFullDisk = "on a full disk"

func (f flood) check(t *testing.T, mode, flag string) {
	t.Helper()
	least := int64(math.MaxInt64)
	for range 3 { // other load on the machine delays the garbage collector
		if least = min(least, f.peak(t, mode, flag)); least <= maxFloodMemory {
			break
		}
	}
	t.Logf("%d MiB", least>>20)
	if least > maxFloodMemory {
		t.Errorf("the chat needs %d MiB", least>>20)
	}
}

// peak returns the peak of the memory of a chat in which the flood is a turn.
func (f flood) peak(t *testing.T, mode, flag string) int64 {
	args := []string{"chat", "-t", f.teamFile(t), "-m", f.message}
	if flag != "" {
		args = append(args, flag)
	}
	cmd := exec.Command("agent-chatter", args...)
	if mode == onFullDisk { // files of 8 KiB at most
		cmd = exec.Command("sh", append([]string{"-c", `ulimit -f 16; exec agent-chatter "$@"`, "sh"}, args...)...)
	}
	resetPeak(t)
	var stderr strings.Builder
	cmd.Env, cmd.Stderr = append(os.Environ(), "AGENT_CHATTER_HOME="+t.TempDir()), &stderr
	err := cmd.Run()
	if code := cmd.ProcessState.ExitCode(); code != app.ExitFailed && code != app.ExitDone {
		t.Errorf("%v: %s", err, stderr.String())
	}
	return peakMemory(cmd)
}

// teamFile returns the team file of the flood.
func (f flood) teamFile(t *testing.T) string {
	t.Helper()
	if f.script == "" {
		return filepath.Join("..", "..", "..", "testdata", "teams", "asking.json")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "flood.json")
	err := errors.Join(
		os.WriteFile(file, []byte(strings.Replace(floodTeam, "ENGINE", f.engine, 1)), 0o600),
		os.WriteFile(filepath.Join(dir, "agent.sh"), []byte("#!/bin/sh\n"+f.script+"\n"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	return file
}
