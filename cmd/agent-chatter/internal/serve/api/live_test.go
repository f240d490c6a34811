package api

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/live"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

// teamHosts is a Hosts that has teams, and hosts nothing.
type teamHosts struct{ Hosts }

func (teamHosts) Directories() []string { return []string{"/projects/shop"} }

func (teamHosts) Teams(context.Context) []live.Team {
	return []live.Team{{Name: "shop", Title: "Shop", Trusted: true, Members: []projection.Member{
		{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman},
		{ID: "ada", Name: "ada", DisplayName: "Ada" + apptest.Hostile, Type: projection.TypeAI},
	}}}
}

// The members of a team have the colours that they have in a session.
func TestTeamsOfTheHost(t *testing.T) {
	d := newDesk(t, t.TempDir())
	d.hosts = teamHosts{}
	host := func(role web.Role) (h hostJSON) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/host", nil)
		d.Handler().ServeHTTP(w, web.WithCaller(r, web.Caller{Role: role}))
		if r, found := apptest.Acting(w.Body.String()); found {
			t.Errorf("%U: %s", r, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), &h); err != nil {
			t.Fatal(err)
		}
		return h
	}
	teams := host(web.RoleAll).Teams
	if len(teams) != 1 || len(teams[0].Members) != 2 || !strings.HasPrefix(teams[0].Members[1].Name, "Ada") {
		t.Fatalf("%+v", teams)
	}
	want := []memberJSON{
		{ID: "you", Name: "You", Class: "fg6", Human: true}, {ID: "ada", Name: teams[0].Members[1].Name, Class: "fg5"},
	}
	if diff := cmp.Diff(want, teams[0].Members); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if h := host(web.RoleAnswer); !h.Chat || h.Teams != nil || h.Directories != nil {
		t.Errorf("of a device that may begin nothing: %+v", h)
	}
}
