package coordinator_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// instructing is the team of an instructor and a worker, whose agents are played.
func instructing(t *testing.T, plays ...play) *scene {
	t.Helper()
	s := &scene{t: t, cast: &cast{plays: plays}, diary: &diary{}}
	o := s.options(&store.Memory{})
	o.Engines[team.EngineClaude] = s.cast
	s.Coordinator = coordinator.New(o)
	t.Cleanup(func() { s.Stop("the test is over") })
	loaded, err := team.Load("../testdata/teams/plan-and-work.json", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s.with(loaded, "")
	return s
}

func TestInstructorAndWorkerTakeTurnsUntilTheTaskIsDone(t *testing.T) {
	s := instructing(t,
		says("First the base. [NEXT: worker]"), says("It stands. [NEXT: instructor]"),
		says("Now the shelf. [NEXT: worker]"), says("It hangs. [NEXT: instructor]"),
		says("A shelf was built.\n\nDONE [NEXT: worker]"))
	s.say("Build a shelf.")
	s.checkAsked("instructor", "worker", "instructor", "worker", "instructor")
	if s.Waiting() != "you" || len(s.Queue()) > 0 {
		t.Errorf("waiting for %q with %v behind", s.Waiting(), s.Queue())
	}
	for i, turn := range s.cast.turns {
		if tells := strings.Contains(turn.Prompt, "write DONE alone on the last line"); tells != (turn.Member.ID == "instructor") {
			t.Errorf("turn %d of %s is told how to end the task: %v", i, turn.Member.ID, tells)
		}
	}
	if first := s.cast.turns[0].Member; !slices.Equal(first.Args, []string{"--effort", "high"}) || first.Command != "claude" {
		t.Errorf("the instructor runs %s %v", first.Command, first.Args)
	}
}

func TestInstructorAndWorkerStopAfterTenRounds(t *testing.T) {
	var plays []play
	for range 15 {
		plays = append(plays, says("On. [NEXT: worker]"), says("Done it. [NEXT: instructor]"))
	}
	s := instructing(t, plays...)
	s.say("Build a city.")
	if n := len(s.cast.asked()); n != 20 || s.diary.count("notice RoundLimit 20 [Instructor]") != 1 {
		t.Errorf("%d turns, told was %q", n, s.diary.lines)
	}
}
