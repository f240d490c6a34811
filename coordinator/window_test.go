package coordinator_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/coordinator/store"
	"github.com/agent-chatter/agent-chatter/coordinator/team"
)

// tokens is a context window of 64 KiB.
const tokens = 64 << 10 / 3

// Of a long conversation the prompt has the newest messages, and it begins with the same bytes for several turns.
func TestWindowMovesInSteps(t *testing.T) {
	s := windowedBy(t, files(t), tokens)
	word := strings.Repeat("word\n", 200)
	same, turns, before := 0, 0, ""
	for i := range 100 {
		s.engine.then(says(fmt.Sprintf("answer %d %s", i, word)))
		s.say(fmt.Sprintf("question %d %s", i, word))
		prompt := s.engine.prompt()
		if len(prompt) > 64<<10 {
			t.Fatalf("prompt %d has %d bytes", i, len(prompt))
		}
		if i >= 40 && len(prompt) < 40<<10 {
			t.Errorf("prompt %d has only %d bytes", i, len(prompt))
		}
		if !strings.Contains(prompt, fmt.Sprintf("question %d ", i)) || i > 0 &&
			!strings.Contains(prompt, fmt.Sprintf("answer %d ", i-1)) {
			t.Errorf("prompt %d lacks the newest messages", i)
		}
		conversation, _, _ := strings.Cut(prompt, "\n\nMessage from You:")
		if i > 40 {
			turns++
			if strings.HasPrefix(conversation, before) {
				same++
			}
		}
		before = conversation
	}
	if same*4 < turns*3 {
		t.Errorf("the prompt begins with the one before in %d of %d turns", same, turns)
	}
}

// After a restart, the window has the same messages.
func TestWindowIsTheSameAfterARestart(t *testing.T) {
	d := files(t)
	s := windowedBy(t, d, tokens)
	for i := range 50 {
		s.say(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 500)))
	}
	id := s.stop()
	s = windowedBy(t, d, tokens)
	s.setTeam(windowTeam(tokens), id)
	s.say("again")
	first := s.engine.prompt()
	if !strings.Contains(first, "question 49 ") || strings.Contains(first, "question 10 ") {
		t.Errorf("the prompt is %.200q", first)
	}
}

func windowTeam(tokens int64) *team.Team {
	t := testTeam()
	t.Members[0].ContextWindow = tokens
	return t
}

func windowedBy(t *testing.T, d store.Store, tokens int64) *fixture {
	t.Helper()
	s := newFixture(t, d)
	s.Coordinator = coordinator.New(s.options(d))
	t.Cleanup(func() { s.Stop("end of test") })
	s.setTeam(windowTeam(tokens), "")
	return s
}
