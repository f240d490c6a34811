package agent_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/agenttest"
)

func TestGuardEndsWhatKilledOwnerLeaves(t *testing.T) {
	for name, tt := range map[string]struct {
		does  []string // see runOwner
		until string   // the start of the line after which it is killed
		stays bool     // the process that the agent has started
	}{
		"tool of the first turn":     {[]string{"tool"}, "tool", false},
		"tool of a later turn":       {[]string{"say hi", "tool"}, "tool", false},
		"server of an idle agent":    {[]string{"serve"}, "idle", true},
		"server of an agent's turn":  {[]string{"serve", "tool"}, "tool", false},
		"server of a closed agent":   {[]string{"serve", "close"}, "idle", true},
		"server before a later turn": {[]string{"serve", "say hi"}, "idle", true},
		"server of a program's turn": {[]string{"leave"}, "idle", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := exec.CommandContext(within(t), os.Args[0], tt.does...)
			owner.Env = append(os.Environ(), "AGENT_TEST_ROLE=owner", "AGENT_TEST_TURN="+turnID(t))
			input, err := owner.StdinPipe() // closed when the test ends
			if err != nil {
				t.Fatal(err)
			}
			defer input.Close()
			output, err := owner.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := owner.Start(); err != nil {
				t.Fatal(err)
			}
			server := 0
			lines := bufio.NewScanner(output)
			for lines.Scan() && !strings.HasPrefix(lines.Text(), tt.until) {
				if pid, err := strconv.Atoi(strings.TrimPrefix(lines.Text(), "text ")); err == nil {
					server = pid
				}
			}
			if lines.Err() != nil || lines.Text() == "" {
				t.Fatalf("it ended: %v", lines.Err())
			}
			awaitGuard := agenttest.ExitOf(t, agenttest.GuardOf(t, owner.Process.Pid))
			if err := owner.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = owner.Wait()
			awaitGuard()
			if tt.stays {
				if !alive(server) {
					t.Error("the server was ended")
				}
				endProcess(t, server)
			}
			for pid, command := range agenttest.Running(turnID(t)) {
				if (pid != server || !tt.stays) && alive(pid) {
					t.Errorf("process %d is alive: %s", pid, command)
				}
			}
		})
	}
}
