package coordinator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// planAndWork returns a coordinator with the sample team of an instructor and a worker.
func planAndWork(t *testing.T, script ...turnFunc) *fixture {
	t.Helper()
	s := &fixture{t: t, engine: &scriptedEngine{script: script}, recorder: &recorder{}}
	o := s.options(&store.Memory{})
	o.Engines["claude"] = s.engine
	s.Coordinator = coordinator.New(o)
	t.Cleanup(func() { s.Stop("end of test") })
	loaded, err := team.Load("../testdata/teams/plan-and-work.json", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.setTeam(loaded, "")
	return s
}

func TestPlanAndWorkEndsWhenTaskIsDone(t *testing.T) {
	s := planAndWork(t,
		says("First the base. [NEXT: worker]"), says("It stands. [NEXT: instructor]"),
		says("Now the shelf. [NEXT: worker]"), says("It hangs. [NEXT: instructor]"),
		says("A shelf was built.\n\nDONE [NEXT: worker]"))
	s.say("Build a shelf.")
	s.checkMembers("instructor", "worker", "instructor", "worker", "instructor")
	if s.Waiting() != "you" || len(s.Queue()) > 0 {
		t.Errorf("waiting for %q, queue %v", s.Waiting(), s.Queue())
	}
	for i, turn := range s.engine.turns {
		if tells := strings.Contains(turn.Prompt,
			"write DONE alone on the last line"); tells != (turn.Member.ID == "instructor") {
			t.Errorf("the prompt of turn %d of %s has the done word: %v", i, turn.Member.ID, tells)
		}
	}
	if first := s.engine.turns[0].Member; !slices.Equal(first.Args, []string{"--effort", "high"}) ||
		first.Command != "claude" {
		t.Errorf("the instructor runs %s %v", first.Command, first.Args)
	}
}

func TestPlanAndWorkStopsAfterTenRounds(t *testing.T) {
	var script []turnFunc
	for range 15 {
		script = append(script, says("On. [NEXT: worker]"), says("Done it. [NEXT: instructor]"))
	}
	s := planAndWork(t, script...)
	s.say("Build a city.")
	if n := len(s.engine.members()); n != 20 || s.recorder.count("notice RoundLimit 20 [Instructor]") != 1 {
		t.Errorf("%d turns, notified %q", n, s.recorder.lines)
	}
}
