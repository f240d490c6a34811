package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty/ttytest"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/journal/sizetest"
)

// TestKilledChatLeavesTerminalUsable kills the chat that the README's first command starts, and compares what stty
// prints in the shell before and after. The shell does not know of the kill: go run exits normally. On a busy machine
// the shell can be faster than the watcher, so the test allows that for half of the kills. Without a watcher none is
// undone.
func TestKilledChatLeavesTerminalUsable(t *testing.T) {
	skipIfShort(t)
	racetest.Skip(t, "it builds the program without the detector")
	for _, shell := range []struct {
		name, flags string
		kills       int
	}{{"bash", "--norc --noprofile", 4}, {"zsh", "-f", 2}} {
		t.Run(shell.name, func(t *testing.T) {
			if !sizetest.Full() {
				shell.kills = 2
			}
			programtest.Path(t, shell.name)
			home := t.TempDir()
			root, err := filepath.Abs(filepath.Join("..", ".."))
			if err != nil {
				t.Fatal(err)
			}
			command := regexp.MustCompile(`(?m)^go run .*$`).FindString(readFile(t, filepath.Join(root, "README.md")))
			m := ttytest.Start(t, 80, 24, fmt.Sprintf("cd %s && exec env AGENT_CHATTER_HOME=%s GOFLAGS=-buildvcs=false %s %s",
				root, home, shell.name, shell.flags))
			before := m.Settings("before")
			late := 0
			for i := range shell.kills {
				m.Press(command, "Enter")
				m.ExpectTimes("Type /help", i+1)
				m.Press(fmt.Sprintf("message %d", i), "Enter")
				m.Expect(fmt.Sprintf("“message %d”", i)) // in the reply
				if err := syscall.Kill(chatProcess(t, home), syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				m.ExpectTimes("signal: killed", i+1)
				if after := m.Settings(fmt.Sprint("after", i)); after != before {
					late++
					t.Logf("after kill %d, stty prints %s, before %s", i+1, after, before)
					m.Press("stty "+before, "Enter")
				}
			}
			t.Logf("%d of %d kills were undone in time", shell.kills-late, shell.kills)
			if late > shell.kills/2 {
				t.Errorf("%d of %d kills were not undone in time", late, shell.kills)
			}
		})
	}
}

// chatProcess returns the process of this program with a home.
func chatProcess(t *testing.T, home string) int {
	t.Helper()
	environments, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range environments {
		environment, err := os.ReadFile(path)
		if err != nil || !strings.Contains(string(environment), "AGENT_CHATTER_HOME="+home+"\x00") {
			continue
		}
		dir := filepath.Dir(path)
		if program, err := os.Readlink(filepath.Join(dir, "exe")); err == nil && filepath.Base(program) == "agent-chatter" {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err != nil {
				t.Fatal(err)
			}
			return pid
		}
	}
	t.Fatal("no process has the home ", home)
	return 0
}
