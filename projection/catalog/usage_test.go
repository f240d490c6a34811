package catalog_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
)

// began and ended are the events of a turn of ada.
func began(minutes int, turn string) journal.Record {
	return after(minutes, projection.TurnStarted{TurnID: turn, MemberID: "ada", AgentType: "claude", Model: "opus"})
}

func ended(minutes int, turn string, tokens int64) journal.Record {
	return after(minutes, projection.TurnEnded{
		TurnID: turn, MemberID: "ada", FinishReason: projection.Done, Usage: &projection.Usage{Output: tokens},
	})
}

// A row continues the fold of an earlier row, with the turns that were open then.
func TestRowHasTheUsageOfTheSession(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	at := put(t, team, id(1), append(chat(id(1), "kitchen", "Tea", 1),
		began(1, id(2)), ended(2, id(2), 7), began(20, id(3)))...)
	wantUsage(t, list(t, c), 7)
	add(t, team, id(1), at, ended(21, id(3), 5))
	indexed := list(t, c)
	wantUsage(t, indexed, 12)
	dropCaches(t, c.Root())
	if diff := cmp.Diff(indexed[0].Spent.Usage, list(t, c)[0].Spent.Usage); diff != "" {
		t.Errorf("the index (-) differs from the journal (+):\n%s", diff)
	}
	archive(t, team, id(1))
	wantUsage(t, list(t, c), 12)
}

// A row of many tallies neither hides others nor is folded again.
func TestLargeIndexWithLongRows(t *testing.T) {
	c := catalog.New(t.TempDir(), journal.Options{})
	team := c.Team("kitchen")
	for n := range 1010 {
		put(t, team, id(n), chat(id(n), "kitchen", "Tea", 1)...)
	}
	long := chat(id(5000), "kitchen", "Tea", 1)
	for n := range 200 {
		long = append(long, began(15*n, id(n)), ended(15*n, id(n), 1))
	}
	put(t, team, id(5000), long...)
	list(t, c)
	seen := watch()
	c = catalog.New(c.Root(), journal.Options{FS: seen})
	total := int64(0)
	for _, s := range list(t, c) {
		for _, tally := range s.Spent.Usage {
			total += tally.Tokens()
		}
	}
	for _, n := range []int{0, 500, 1009, 5000} {
		if s, err := c.Team("kitchen").Session(ctx, id(n)); err != nil || s.Title != "Tea" {
			t.Errorf("session %d: %v", n, err)
		}
	}
	if opened, _ := seen.journals(); opened > 0 || total != 200 {
		t.Errorf("%d tokens; %d journals were read", total, opened)
	}
}

func wantUsage(t *testing.T, sessions []catalog.Session, tokens int64) {
	t.Helper()
	sum := int64(0)
	for _, s := range sessions {
		for _, tally := range s.Spent.Usage {
			if sum += tally.Tokens(); tally.Agent != "claude" || tally.Model != "opus" ||
				tally.Time().After(created.Add(time.Hour)) {
				t.Errorf("got %+v", tally)
			}
		}
	}
	if sum != tokens {
		t.Errorf("%d tokens, not %d", sum, tokens)
	}
}
