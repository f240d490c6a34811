package sessioncopy_test

import (
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog/sessioncopy"
)

// What a turn used is counted in the session that had the turn, not in the copies of it.
func TestCopiesHaveNoUsage(t *testing.T) {
	c, dir := newTeam(t, journal.Options{})
	turn := func(minutes int, id string) []journal.Record {
		at := created.Add(time.Duration(minutes) * time.Minute)
		return []journal.Record{
			projection.Record(at, projection.TurnStarted{TurnID: id, MemberID: "ada", AgentType: "claude"}),
			projection.Record(at, projection.TurnEnded{
				TurnID: id, MemberID: "ada", FinishReason: projection.Done, Usage: &projection.Usage{Output: 10},
			}),
		}
	}
	put(t, dir, id(1), append(conversation(id(1), "hello", "hi"), turn(1, id(11))...)...)
	fork, err := sessioncopy.Fork(ctx, dir, id(1), 0)
	if err != nil {
		t.Fatal(err)
	}
	say(t, dir, id(1), 5, "more")
	say(t, dir, fork, 6, "other")
	if _, err := sessioncopy.Merge(ctx, dir, id(1), fork); err != nil {
		t.Fatal(err)
	}
	if _, err := sessioncopy.Fork(ctx, dir, fork, 0); err != nil {
		t.Fatal(err)
	}
	sum, sessions := int64(0), list(t, c)
	for _, s := range sessions {
		for _, tally := range s.Spent.Usage {
			sum += tally.Tokens()
		}
	}
	if sum != 10 || len(sessions) != 4 {
		t.Errorf("%d tokens in %d sessions", sum, len(sessions))
	}
}
