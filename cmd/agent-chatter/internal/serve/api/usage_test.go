package api

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/spending"
	"github.com/agent-chatter/agent-chatter/projection"
)

func TestUsage(t *testing.T) {
	home := t.TempDir()
	write := func(n int, age time.Duration, turns ...any) {
		for i := len(turns) - 1; i >= 0; i-- {
			of := turns[i].(projection.TurnEnded)
			turns = slices.Insert(turns, i, any(projection.TurnStarted{TurnID: of.TurnID, MemberID: of.MemberID}))
		}
		write(t, home, "shop", n, age, "A question", turns...)
	}
	turns := 0
	turn := func(member string, cost *projection.Cost) any {
		turns++
		return projection.TurnEnded{TurnID: sessionID(100 + turns), MemberID: member, FinishReason: projection.Done,
			Usage: &projection.Usage{Input: 1200, Output: 34, Cost: cost}}
	}
	d := newDesk(t, home)
	if got := read[usageJSON](t, d, "/api/usage"); len(got.Tables) != 3 || len(got.Tables[0].Lines) != 0 || len(got.Notes) != 0 {
		t.Errorf("an empty home: %+v", got)
	}
	dollar := &projection.Cost{Amount: 1, Currency: "USD"}
	write(1, time.Minute, turn("ada", dollar), turn("bo"+apptest.Hostile, dollar))
	write(2, 40*24*time.Hour, turn("ada", nil))
	got := read[usageJSON](t, d, "/api/usage")
	days, members := got.Tables[0], got.Tables[1]
	if days.By != spending.ByDay || len(days.Lines) != 2 || days.Lines[1].Cost != "2.00 USD" || days.Total.Cost != "≥2.00 USD" ||
		days.Lines[0].In != "1200" || days.Lines[0].Cost != "unknown" || days.Lines[0].Bar != 0.5 || days.Lines[1].Bar != 1 {
		t.Errorf("by day: %+v", days)
	}
	if members.By != spending.ByMember || len(members.Lines) != 2 || members.Lines[0].Name != "ada (shop)" || members.Lines[0].Turns != 2 {
		t.Errorf("by member: %+v", members)
	}
	if len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "≥ means at least") {
		t.Errorf("notes: %q", got.Notes)
	}
	if recent := read[usageJSON](t, d, "/api/usage?since=30d"); len(recent.Tables[0].Lines) != 1 || len(recent.Notes) != 0 {
		t.Errorf("of 30 days: %+v", recent)
	}
	status, text := ask(t, d, http.MethodGet, "/api/usage")
	if r, found := apptest.Acting(text); found || status != http.StatusOK {
		t.Errorf("%d, %U: %s", status, r, text)
	}
	if status, text := ask(t, d, http.MethodGet, "/api/usage?since=x%1b"); status != http.StatusBadRequest {
		t.Errorf("an unknown time: %d, %s", status, text)
	}
}
