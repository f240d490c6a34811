package agent_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/journal/programtest"
)

// detachingTurn returns a turn whose agent starts a detached tool: only the turn's id in the tool's
// environment shows that it belongs to the turn.
func detachingTurn(t *testing.T, then string) agent.Turn {
	turn := script(t, `AGENT_TEST_ROLE=leave "$0" /bin/sleep 300 && `+then)
	turn.Member.Args = append(turn.Member.Args, self(t, "leave").Member.Command)
	return turn
}

func TestCancelEndsDetachedProcesses(t *testing.T) {
	replied := cancelAfterFirst(t, graceful, detachingTurn(t, `sleep 300`))
	wantEnded(t, pidsIn(t, replied)...)
}

func TestCancelEndsDescendantsWithoutEnvironment(t *testing.T) {
	programtest.Path(t, "setsid")
	turn := script(t, `setsid env -i /bin/sh -c 'echo $$; exec /bin/sleep 300' & wait`)
	replied := cancelAfterFirst(t, graceful, turn)
	wantEnded(t, pidsIn(t, replied)...)
}

func TestLeavingLoopEndsDetachedProcesses(t *testing.T) {
	for _, then := range []string{`sleep 300`, `exit 0`} {
		var replied strings.Builder
		for event, err := range graceful.Run(within(t), detachingTurn(t, then)) {
			if err != nil {
				t.Fatal(err)
			}
			replied.WriteString(event.(agent.Text).Text)
			break
		}
		wantEnded(t, pidsIn(t, replied.String())...)
	}
}

func TestDetachedProcessesOfOtherTurnsStay(t *testing.T) {
	other := detachingTurn(t, `true`)
	other.ID = turnID(t) + "-another"
	pid := pidsIn(t, mustReply(t, graceful, other))[0]
	cancelAfterFirst(t, graceful, detachingTurn(t, `sleep 300`))
	if !alive(pid) {
		t.Error("the process of the other turn was ended")
	}
	turn := other
	turn.Member = script(t, `echo hi; sleep 300`).Member
	cancelAfterFirst(t, graceful, turn) // ends the detached process
	wantEnded(t, pid)
}

// startMarked starts a process that carries a turn and an owner, and returns its id.
func startMarked(t *testing.T, turnID, owner string) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = []string{process.TurnVariable + "=" + turnID, "AGENT_CHATTER_OWNER=" + owner}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

func TestProcessWithLivingOwnerIsNoOrphan(t *testing.T) {
	turn := detachingTurn(t, `true`)
	pid := pidsIn(t, mustReply(t, graceful, turn))[0]
	if n := process.EndOrphans(turn.ID); n != 0 || !alive(pid) {
		t.Errorf("%d were ended, alive: %v", n, alive(pid))
	}
	turn.Member = script(t, `echo hi; sleep 300`).Member
	cancelAfterFirst(t, graceful, turn)
	wantEnded(t, pid)
}

func TestEndOrphansWithDeadOwner(t *testing.T) {
	for name, owner := range map[string]string{
		"process id was reused": "1-987654321987654321",
		"process id is unused":  "4194305-1",
		"no owner":              "",
		"invalid owner":         "x-y-z",
	} {
		t.Run(name, func(t *testing.T) {
			pid := startMarked(t, turnID(t), owner)
			if n := process.EndOrphans(turnID(t)); n != 1 {
				t.Errorf("%d were ended", n)
			}
			wantEnded(t, pid)
		})
	}
}

// TestEndResidentsThatExecutePrograms ends processes that execute one program after another: in between, they have no
// environment that could be read.
func TestEndResidentsThatExecutePrograms(t *testing.T) {
	program := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		var pids []int
		for range 8 {
			cmd := exec.Command(program)
			cmd.Env = []string{process.TurnVariable + "=" + turnID(t), "AGENT_CHATTER_OWNER=4194305-1"}
			cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pids = append(pids, cmd.Process.Pid)
			t.Cleanup(func() {
				cmd.Process.Kill()
				cmd.Wait()
			})
		}
		if n := process.EndResidents(turnID(t)); n != len(pids) {
			t.Errorf("%d of %d were ended", n, len(pids))
		}
		wantEnded(t, pids...)
	}
}
