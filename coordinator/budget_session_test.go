package coordinator_test

import (
	"fmt"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// resumeWithin resumes a session in a home with a key; "": begins one. The team may have one turn in a session.
func resumeWithin(t *testing.T, s store.Store, id, key string, run ...team.Bound) *fixture {
	t.Helper()
	f := newFixture(t, s)
	o := f.options(s)
	o.HomeKey, o.Budget.Run = homeKey(key), run
	f.Coordinator = coordinator.New(o)
	members := testTeam()
	members.Budget = team.Budget{Session: team.Limit{Turns: 1}, Message: team.Limit{Tokens: 9}}
	f.setTeam(members, id)
	return f
}

func (s *fixture) checkBounds(want string) {
	s.t.Helper()
	if got := fmt.Sprint(s.Bounds()); got != want {
		s.t.Errorf("the limits are %s, want %s", got, want)
	}
}

func TestLimitOfASessionHoldsAfterAResume(t *testing.T) {
	bothStores(t, func(t *testing.T, both store.Store) {
		s := resumeWithin(t, both, "", "home")
		if err := s.SetLimit("session.cats", nil); err == nil {
			t.Error("an unknown limit was set")
		}
		s.limit("session.turns", 2)
		s.limit("message.tokens", 0)
		s.say("one", "two")
		s.refused("session.turns")
		id := s.stop()
		s = resumeWithin(t, both, id, "home")
		s.checkBounds("[session.turns=2]")
		s.refused("session.turns")
		recorded := payloads[projection.SessionResumed](t, s.recorder.appended)[0].Limits.Budget
		if len(recorded) != 1 || recorded["session.turns"] != 2 {
			t.Errorf("recorded limits: %v", recorded)
		}
		s.stop()
		s = resumeWithin(t, both, id, "home", team.Bound{Per: team.PerSession, Of: team.Turns, Most: 4})
		s.checkBounds("[session.turns=4]") // of the run
		s.limit("session.turns", 3)
		s.checkBounds("[session.turns=3]")
		if err := s.SetLimit("session.turns", nil); err != nil {
			t.Fatal(err)
		}
		s.checkBounds("[session.turns=1]")
		s.stop()
		resumeWithin(t, both, id, "home").checkBounds("[session.turns=1]")
	})
}

// A session from elsewhere raises no limit, until the person here says so, too.
func TestLimitFromElsewhereOnlyLowers(t *testing.T) {
	s := files(t)
	r := resumeWithin(t, s, "", "home")
	r.limit("session.turns", 5)
	r.limit("session.cost", 2)
	r.limit("message.tokens", 3)
	r.limit("message.turns", 0)
	id := r.stop()
	r = resumeWithin(t, s, id, "elsewhere")
	r.checkBounds("[message.tokens=3 session.turns=1 session.cost=2]")
	if n := r.recorder.count("notice LimitsChanged"); n != 1 {
		t.Errorf("%q", r.recorder.lines)
	}
	r.limit("session.turns", 5)
	r.stop()
	for _, key := range []string{"home", "elsewhere"} {
		r = resumeWithin(t, s, id, key)
		r.checkBounds("[message.tokens=3 session.turns=5 session.cost=2]")
		if err := r.Stop(""); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCopiesHaveTheLimitsOfTheSession(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	s := store.NewFiles(c)
	r := resumeWithin(t, s, "", "home")
	r.say("one")
	r.limit("session.turns", 5)
	id := r.stop()
	fork, err := sessioncopy.Fork(t.Context(), c.Team("ensemble"), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	resumeWithin(t, s, fork, "home").checkBounds("[message.tokens=9 session.turns=5]")
	if fork, err = sessioncopy.Fork(t.Context(), c.Team("ensemble"), id, 2); err != nil {
		t.Fatal(err)
	}
	resumeWithin(t, s, fork, "home").checkBounds("[message.tokens=9 session.turns=1]")
}
