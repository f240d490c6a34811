package agent_test

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
)

// leaver is an agent that runs a tool in a session of its own, which only the turn's id in
// its environment still ties to the turn.
func leaver(t *testing.T, then string) agent.Turn {
	turn := script(t, `AGENT_TEST_ROLE=leave "$0" /bin/sleep 300 && `+then)
	turn.Member.Args = append(turn.Member.Args, self(t, "leave").Member.Command)
	return turn
}

func TestCancellingAlsoEndsWhatHasLeftTheGroup(t *testing.T) {
	said := cancelAfterFirst(t, patient, leaver(t, `sleep 300`))
	wantGone(t, numbers(t, said)...)
}

func TestCancellingAlsoEndsWhatHidesItsEnvironment(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		t.Skip("there is no setsid")
	}
	said := cancelAfterFirst(t, patient, script(t, `setsid env -i /bin/sh -c 'echo $$; exec /bin/sleep 300' & wait`))
	wantGone(t, numbers(t, said)...)
}

func TestLeavingTheLoopAlsoEndsWhatHasLeftTheGroup(t *testing.T) {
	for _, then := range []string{`sleep 300`, `exit 0`} {
		var said strings.Builder
		for event, err := range patient.Run(within(t), leaver(t, then)) {
			if err != nil {
				t.Fatal(err)
			}
			said.WriteString(event.(agent.Text).Text)
			break
		}
		wantGone(t, numbers(t, said.String())...)
	}
}

func TestTheStraysOfAnotherTurnAreLeftAlone(t *testing.T) {
	other := leaver(t, `true`)
	other.ID = turnID(t) + "-another"
	pid := numbers(t, mustReply(t, patient, other))[0]
	cancelAfterFirst(t, patient, leaver(t, `sleep 300`))
	if !alive(pid) {
		t.Error("it was ended")
	}
	turn := other
	turn.Member = script(t, `echo hi; sleep 300`).Member
	cancelAfterFirst(t, patient, turn) // ends the one that was left
	wantGone(t, pid)
}

// marked is a process that carries the id of a turn, and says whose it is.
func marked(t *testing.T, turnID, owner string) (pid int) {
	t.Helper()
	cmd := exec.Command("sleep", "300")
	cmd.Env = []string{process.TurnVariable + "=" + turnID, process.OwnerVariable + "=" + owner}
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

func TestWhatALivingProgramHasStartedIsNoOrphan(t *testing.T) {
	turn := leaver(t, `true`)
	pid := numbers(t, mustReply(t, patient, turn))[0]
	if n := process.EndOrphans(turn.ID); n != 0 || !alive(pid) {
		t.Errorf("%d were ended, alive: %v", n, alive(pid))
	}
	turn.Member = script(t, `echo hi; sleep 300`).Member
	cancelAfterFirst(t, patient, turn)
	wantGone(t, pid)
}

func TestOrphansAreThoseWhoseProgramIsNotAliveAnyMore(t *testing.T) {
	for name, owner := range map[string]string{
		"its number is another's": "1-987654321987654321",
		"its number is nobody's":  "4194305-1",
		"nobody's":                "",
		"nonsense":                "x-y-z",
	} {
		t.Run(name, func(t *testing.T) {
			pid := marked(t, turnID(t), owner)
			if n := process.EndOrphans(turnID(t)); n != 1 {
				t.Errorf("%d were ended", n)
			}
			wantGone(t, pid)
		})
	}
}
