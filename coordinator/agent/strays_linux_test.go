package agent_test

import (
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator/agent"
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
