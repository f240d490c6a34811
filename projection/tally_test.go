package projection_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"
	"pgregory.net/rapid"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// ulidAt is an id that was made so long after the session of the tests was created.
func ulidAt(after time.Duration) string {
	var id ulid.ULID
	_ = id.SetTime(ulid.Timestamp(created.Add(after)))
	return id.String()
}

// turnAt is a turn of ada that began and ended so long after the session was created.
func turnAt(after time.Duration, used *projection.Usage) []journal.Record {
	at, id := created.Add(after), ulidAt(after)
	return []journal.Record{
		projection.Record(at, projection.TurnStarted{TurnID: id, MemberID: "ada", AgentType: "claude", Model: "opus"}),
		projection.Record(at, projection.TurnEnded{
			TurnID: id, MemberID: "ada", FinishReason: projection.Done, Usage: used,
		}),
	}
}

// header is session.created of a session whose id was made so long after the header.
func header(after time.Duration, parent *projection.Parent) journal.Record {
	return projection.Record(created, projection.SessionCreated{
		Format: projection.Format, SessionID: ulidAt(after), Team: kitchen, CWD: "/", Parent: parent,
	})
}

func TestUsageOfASession(t *testing.T) {
	ten := &projection.Usage{Input: 10}
	dear := &projection.Usage{Input: 3, CachedRead: 4, Output: 2, Cost: &projection.Cost{Amount: 0.5, Currency: "USD"}}
	parent := &projection.Parent{SessionID: "p", Seq: 5}
	sealed := journal.Record{Type: journal.TypeSealed, Data: []byte("{}"), Time: created.Add(time.Hour)}
	for _, test := range []struct {
		name    string
		records []journal.Record
		want    projection.Spent
	}{
		{"of its turns", append(append([]journal.Record{header(0, nil)}, turnAt(1, ten)...), turnAt(2, dear)...),
			projection.Spent{Turns: 2, Tokens: 19, Costs: map[string]float64{"USD": 0.5}, Uncosted: 1}},
		{"that no agent reported", append([]journal.Record{header(0, nil)}, turnAt(1, nil)...),
			projection.Spent{Turns: 1, Unknown: 1, Uncosted: 1}},
		{"of a turn that is open", append([]journal.Record{header(0, nil)}, turnAt(1, ten)[0]), projection.Spent{Turns: 1}},
		{"of a fork that has no turn of its own",
			append(append([]journal.Record{header(time.Hour, parent)}, turnAt(1, ten)...), sealed), projection.Spent{}},
		{"of a fork and its turn", append(
			append(append([]journal.Record{header(time.Hour, parent)}, turnAt(1, dear)...), sealed),
			turnAt(2*time.Hour, ten)...), projection.Spent{Turns: 1, Tokens: 10, Uncosted: 1}},
		{"of a fork after the clock was set back", append(
			append(append([]journal.Record{header(time.Hour, parent)}, turnAt(1, dear)...), sealed),
			turnAt(time.Minute, ten)...), projection.Spent{Turns: 1, Tokens: 10, Uncosted: 1}},
		{"of what another machine lacks", append(
			append([]journal.Record{header(time.Hour, parent)}, turnAt(1, dear)...), turnAt(time.Hour, ten)...),
			projection.Spent{Turns: 1, Tokens: 10, Uncosted: 1}},
		{"of the end of a turn of the parent", append(
			append([]journal.Record{header(time.Hour, parent)}, turnAt(1, ten)[0], sealed), projection.Record(
				created.Add(2*time.Hour), projection.TurnEnded{TurnID: ulidAt(1), MemberID: "ada", Usage: ten})),
			projection.Spent{}},
		{"of a rerun", append([]journal.Record{header(0, parent)}, turnAt(1, ten)...),
			projection.Spent{Turns: 1, Tokens: 10, Uncosted: 1}},
		{"of another program", []journal.Record{header(0, nil),
			projection.Record(created, projection.TurnStarted{TurnID: "c-turn-1", MemberID: "claude"}),
			projection.Record(created, projection.TurnEnded{TurnID: "c-turn-1", MemberID: "claude", Usage: ten}),
		}, projection.Spent{}},
		{"of summaries", []journal.Record{header(0, nil),
			projection.Record(created, projection.SummaryWritten{MemberID: "ada", From: 1, To: 1, Seen: 1, Usage: ten}),
		}, projection.Spent{Tokens: 10, Uncosted: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fold(numbered(t, test.records...)...).Spent()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUsageSinceTheLastMessageOfAPerson(t *testing.T) {
	says := func(by projection.Speaker) journal.Record {
		return record(projection.NewMessage("m", created, by, "hello", nil))
	}
	records := append([]journal.Record{header(0, nil), says(mia)}, turnAt(1, &projection.Usage{Input: 10})...)
	records = append(append(records, says(mia)), turnAt(2, &projection.Usage{Output: 5})...)
	records = append(append(records, says(ada)), turnAt(3, nil)...)
	want := projection.Spent{Turns: 2, Tokens: 5, Unknown: 1, Uncosted: 2}
	if diff := cmp.Diff(want, fold(numbered(t, records...)...).SpentOnMessage()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Joining tallies loses no token, and a fold that continues from a checkpoint has the same ones.
func TestTalliesAreBoundedAndComplete(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := []journal.Record{header(0, nil)}
		at, tokens := time.Duration(0), int64(0)
		members := rapid.IntRange(1, 80).Draw(t, "members")
		turns := rapid.IntRange(0, 600).Draw(t, "turns")
		step := rapid.SampledFrom([]time.Duration{time.Minute, time.Hour, 24 * time.Hour}).Draw(t, "step")
		for i := range turns {
			at += time.Duration(rapid.Int64Range(1, 40).Draw(t, "steps")) * step
			used := &projection.Usage{Input: int64(i%7 + 1)}
			tokens += used.Input
			member := string(rune('A' + rapid.IntRange(0, members-1).Draw(t, "member")))
			records = append(records, projection.Record(created.Add(at), projection.TurnEnded{
				TurnID: ulidAt(at), MemberID: member, FinishReason: projection.Done, Usage: used,
			}))
		}
		events := numbered(t, records...)
		cut := rapid.IntRange(0, len(events)).Draw(t, "cut")
		whole := fold(events...)
		resumed := throughJSON(t, fold(events[:cut]...))
		apply(resumed, events[cut:]...)
		same(t, resumed, whole)
		sum := whole.Spent()
		if sum.Turns != turns || sum.Tokens != tokens || len(whole.Tallies) > 256 {
			t.Fatalf("%d turns and %d tokens in %d tallies, not %d and %d",
				sum.Turns, sum.Tokens, len(whole.Tallies), turns, tokens)
		}
	})
}

func TestTheNewestDaysAreNotJoined(t *testing.T) {
	records := []journal.Record{header(0, nil)}
	const turns = 300
	for i := range turns {
		records = append(records, turnAt(time.Duration(i)*projection.QuarterHour, nil)...)
	}
	tallies := fold(numbered(t, records...)...).Tallies
	for i, want := len(tallies)-1, turns-1; want >= turns-2*96; i, want = i-1, want-1 {
		if at := created.Add(time.Duration(want) * projection.QuarterHour); !tallies[i].Time().Equal(at) {
			t.Fatalf("a turn at %v is counted at %v", at, tallies[i].Time())
		}
	}
	if n := len(tallies); n > 256 || tallies[0].Turns < 2 {
		t.Errorf("%d tallies; the first has %d turns", n, tallies[0].Turns)
	}
}

func TestTokensDoNotOverflow(t *testing.T) {
	huge := &projection.Usage{Input: math.MaxInt64, Output: 1, Cost: &projection.Cost{Amount: math.MaxFloat64, Currency: "USD"}}
	records := append(append([]journal.Record{header(0, nil)}, turnAt(1, huge)...), turnAt(2, huge)...)
	got := fold(numbered(t, records...)...).Spent()
	if got.Tokens != math.MaxInt64 || got.Costs["USD"] != math.MaxFloat64 {
		t.Errorf("got %+v", got)
	}
}
