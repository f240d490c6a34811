package api

import (
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

// openTeam is open for a session of four members.
func openTeam(t *testing.T, home string, events ...projection.Payload) *journal.Log {
	t.Helper()
	log, err := teamDir(home, "shop").Create(sessionID(1))
	if err != nil {
		t.Fatal(err)
	}
	team := projection.Team{ID: "shop", Name: "shop", Members: []projection.Member{
		{ID: "you", Name: "you", Type: projection.TypeHuman}, {ID: "ada", Name: "ada", Type: projection.TypeAI},
		{ID: "bo", Name: "bo", DisplayName: apptest.Hostile, Type: projection.TypeAI},
		{ID: "cy", Name: "cy", Type: projection.TypeAI},
	}}
	created := projection.SessionCreated{Format: projection.Format, SessionID: sessionID(1), CWD: "/projects/shop", Team: team}
	for _, p := range append([]projection.Payload{created}, events...) {
		if _, err := log.Append(projection.Record(time.Now(), p)); err != nil {
			t.Fatal(err)
		}
	}
	return log
}

// The head of a session says what its members used, and how full their contexts are while it runs.
func TestFiguresOfASession(t *testing.T) {
	home := t.TempDir()
	turns := 0
	turn := func(member string, reason projection.FinishReason, u *projection.Usage) []projection.Payload {
		turns++
		id := sessionID(500 + turns)
		return []projection.Payload{projection.TurnStarted{TurnID: id, MemberID: member},
			projection.TurnEnded{TurnID: id, MemberID: member, FinishReason: reason, Usage: u}}
	}
	usage := func(cost float64, context, window int64) *projection.Usage {
		return &projection.Usage{Input: 2000, Output: 100, Context: context, Window: window,
			Cost: &projection.Cost{Amount: cost, Currency: "USD"}}
	}
	var events []projection.Payload
	for _, more := range [][]projection.Payload{
		turn("ada", projection.Done, usage(1, 20_000, 200_000)),
		turn("bo", projection.Done, usage(0.25, 9_000, 100_000)),
		turn("ada", projection.Done, usage(1, 50_000, 200_000)),
		turn("ada", projection.Cancelled, usage(0.5, 199_000, 200_000)),
		turn("cy", projection.Done, nil),
	} {
		events = append(events, more...)
	}
	log := openTeam(t, home, events...)
	d := newDesk(t, home)
	figures := func() (of map[string]string, all string) {
		of = map[string]string{}
		head := read[headJSON](t, d, "/api/sessions/shop/"+sessionID(1))
		for _, m := range head.Members {
			of[m.ID] = strings.Join(m.Figures, ", ")
		}
		return of, strings.Join(head.Figures, ", ")
	}
	of, all := figures()
	want := map[string]string{"you": "", "ada": "25% of 200k, 2.50 USD", "bo": "9% of 100k, 0.25 USD", "cy": ""}
	if !cmp.Equal(of, want) || all != "8k tokens, ≥2.75 USD" {
		t.Errorf("while it runs: %q, %q", of, all)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if of, _ = figures(); of["ada"] != "2.50 USD" {
		t.Errorf("at its end: %q", of)
	}
}

// However long a session is, only its end is read for the contexts.
func TestContextsAreSoughtAtTheEnd(t *testing.T) {
	home := t.TempDir()
	id := sessionID(900)
	ended := projection.TurnEnded{TurnID: id, MemberID: "ada", FinishReason: projection.Done,
		Usage: &projection.Usage{Context: 1000, Window: 2000}}
	long := projection.NewMessage("m", time.Now(), projection.Speaker{ID: "you"}, strings.Repeat("long ", maxLooked/5), nil)
	log := openTeam(t, home, projection.TurnStarted{TurnID: id, MemberID: "ada"}, ended)
	defer log.Close()
	d := newDesk(t, home)
	path := "/api/sessions/shop/" + sessionID(1)
	if got := read[headJSON](t, d, path).Members[1].Figures; len(got) != 1 || got[0] != "50% of 2k" {
		t.Errorf("near the end: %q", got)
	}
	if _, err := log.Append(projection.Record(time.Now(), long)); err != nil {
		t.Fatal(err)
	}
	if got := read[headJSON](t, d, path).Members[1].Figures; len(got) != 0 {
		t.Errorf("far from the end: %q", got)
	}
}
