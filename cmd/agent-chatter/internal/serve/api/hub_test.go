package api

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/hubtest"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// A mill is another machine, and the hub that it ships to.
type mill struct {
	t    *testing.T
	home string
	hub  *hub.Hub
	desk *Server // of this machine, which has session 1 of shop
}

func newMill(t *testing.T) *mill {
	engine := &hubtest.Memory{}
	home := t.TempDir()
	config := `{"hub": {"urls": ["nats://hub"], "teams": ["*"]}}`
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	write(t, home, "shop", 1, time.Hour, "The checkout")
	m := &mill{t, t.TempDir(), hub.New(engine, hub.Options{Home: "/home/eva", Host: "mill"}), newDesk(t, home)}
	m.desk.app.Remote.Open = func(context.Context, jetstream.Options) (hub.Engine, error) { return engine, nil }
	return m
}

func (m *mill) replica(team string, n int) replica.Replica {
	c := catalog.New(filepath.Join(m.home, "sessions"), journal.Options{})
	return replica.Replica{Hub: m.hub, Dir: c.Team(team), ID: sessionID(n)}
}

// ship writes a session and ships it.
func (m *mill) ship(team string, n int, title string, more ...any) {
	m.t.Helper()
	write(m.t, m.home, team, n, 0, title, more...)
	if _, err := m.replica(team, n).Push(m.t.Context(), false); err != nil {
		m.t.Fatal(err)
	}
}

func (m *mill) claim(team string, n int) {
	m.t.Helper()
	if _, err := m.replica(team, n).Claim(m.t.Context(), false); err != nil {
		m.t.Fatal(err)
	}
}

// hear asks the hub, as the server does in the background.
func (m *mill) hear() {
	m.desk.TakeElsewhere(m.desk.app.Remote.Elsewhere(m.t.Context(), m.desk.app.Catalog))
}

// fetch fetches a session and returns the last line of the answer.
func (m *mill) fetch(path string) (status int, last progressJSON) {
	m.t.Helper()
	w := send(m.t, m.desk, path+"/fetch", "{}")
	lines := strings.Split(strings.TrimSpace(w.Body.String()), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		m.t.Fatal(err)
	}
	return w.Code, last
}

func TestListHasSessionsOfTheHub(t *testing.T) {
	m := newMill(t)
	m.ship("garden", 2, "The beans", "They flower")
	m.ship("shop", 3, "The boxes")
	m.claim("shop", 3)
	list := read[listJSON](t, m.desk, "/api/sessions")
	if got := titles(list); !slices.Equal(got, []string{"The checkout"}) {
		t.Errorf("before the hub has answered: %q", got)
	}
	m.hear()
	list = read[listJSON](t, m.desk, "/api/sessions?sort=title&find=garden/"+sessionID(2))
	if got := titles(list); !slices.Equal(got, []string{"The boxes", "The beans", "The checkout"}) || *list.Place != 1 {
		t.Fatalf("got %q", got)
	}
	if s := list.Sessions[1]; !s.Remote || s.Live || s.Messages != 2 || s.Key != "garden/"+sessionID(2) || s.Retention != "" {
		t.Errorf("got %+v", s)
	}
	if s := list.Sessions[0]; !s.Remote || !s.Live || s.ClaimedBy != "mill" {
		t.Errorf("got %+v", s)
	}
	for query, want := range map[string][]string{
		"live=only": {"The boxes"}, "text=beans": {"The beans"}, "team=garden": {"The beans"}, "archived=only": nil,
	} {
		if got := titles(read[listJSON](t, m.desk, "/api/sessions?"+query)); !slices.Equal(got, want) {
			t.Errorf("%s: %q", query, got)
		}
	}
	_, text := ask(t, m.desk, http.MethodGet, "/api/search?text=flower")
	if !strings.Contains(text, `"searched":1,"onHub":2`) {
		t.Errorf("the search says %s", text)
	}
}

func TestSessionOfTheHubIsFetched(t *testing.T) {
	m := newMill(t)
	m.ship("garden", 2, "The beans", "They flower")
	m.hear()
	path := of("garden", 2)
	if s := read[headJSON](t, m.desk, path); !s.Remote || s.Title != "The beans" || s.LastSeq == 0 || s.Members == nil {
		t.Errorf("before: %+v", s)
	}
	if part := read[partJSON](t, m.desk, path+"/items"); !part.Ended || len(part.Items) != 0 {
		t.Errorf("before: %+v", part)
	}
	before, _ := m.desk.signature(t.Context())
	if status, last := m.fetch(path); status != http.StatusOK || !last.Ended || last.Bytes == 0 || last.Error != "" {
		t.Errorf("%d, %+v", status, last)
	}
	if s := read[headJSON](t, m.desk, path); s.Remote || s.Messages != 2 || s.Bytes == 0 {
		t.Errorf("after: %+v", s)
	}
	if part := read[partJSON](t, m.desk, path+"/items"); len(part.Items) != 2 {
		t.Errorf("after: %+v", part)
	}
	if list := read[listJSON](t, m.desk, "/api/sessions?team=garden"); list.Total != 1 || list.Sessions[0].Remote {
		t.Errorf("after: %+v", list)
	}
	m.hear()
	if after, _ := m.desk.signature(t.Context()); after == before {
		t.Error("the page is not told that the list has changed")
	}
	if status, last := m.fetch(path); status != http.StatusOK || !last.Ended {
		t.Errorf("once more: %d, %+v", status, last)
	}
}

// A change of a session that is only on the hub fetches it; only the trash is refused.
func TestChangesOfSessionsOfTheHub(t *testing.T) {
	m := newMill(t)
	for n := 4; n < 7; n++ {
		m.ship("garden", n, "The beans")
	}
	m.hear()
	w := send(t, m.desk, of("garden", 4)+"/trash", `{}`)
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "hub purge "+sessionID(4)) {
		t.Errorf("trash: %d, %s", w.Code, w.Body)
	}
	if done := changed(t, m.desk, of("garden", 5)+"/rename", `{"title":"Peas"}`); done.Text != "Renamed to: Peas" {
		t.Errorf("rename: %+v", done)
	}
	if done := changed(t, m.desk, of("garden", 6)+"/fork", `{}`); !strings.Contains(done.Text, "is a copy of") {
		t.Errorf("fork: %+v", done)
	}
	changed(t, m.desk, of("garden", 6)+"/trash", `{}`) // it is here now
	m.hear()
	if w := send(t, m.desk, of("garden", 6)+"/trash", `{}`); !strings.Contains(w.Body.String(), "is in the trash") {
		t.Errorf("trash once more: %s", w.Body)
	}
	if status, _ := ask(t, m.desk, http.MethodGet, of("garden", 6)); status != http.StatusNotFound {
		t.Errorf("a session in the trash is shown: %d", status)
	}
}

func TestHubThatDoesNotAnswer(t *testing.T) {
	m := newMill(t)
	m.ship("garden", 2, "The beans")
	m.hear()
	before, _ := m.desk.signature(t.Context())
	m.desk.TakeElsewhere(nil, &hub.UnavailableError{Err: context.DeadlineExceeded})
	list := read[listJSON](t, m.desk, "/api/sessions")
	if len(list.Sessions) != 2 || !strings.HasPrefix(list.Hub, "The hub cannot be reached") {
		t.Errorf("got %+v", list)
	}
	down, _ := m.desk.signature(t.Context())
	m.desk.TakeElsewhere(nil, &hub.UnavailableError{Err: context.DeadlineExceeded})
	if again, _ := m.desk.signature(t.Context()); down == before || again != down {
		t.Errorf("the list is %q, %q, then %q", before, down, again)
	}
	if m.hear(); read[listJSON](t, m.desk, "/api/sessions").Hub != "" {
		t.Error("it answers again")
	}
}

func TestFetchErrors(t *testing.T) {
	m := newMill(t)
	m.ship("garden", 2, "The beans")
	m.hear()
	for path, want := range map[string]int{
		of("garden", 3): http.StatusNotFound, of("attic", 2): http.StatusNotFound, "/api/sessions/..%2f/x": http.StatusNotFound,
	} {
		if w := send(t, m.desk, path+"/fetch", "{}"); w.Code != want {
			t.Errorf("%s: %d, %s", path, w.Code, w.Body)
		}
	}
	if w := send(t, m.desk, of("garden", 2)+"/fetch", "x"); w.Code != http.StatusBadRequest {
		t.Errorf("without a JSON body: %d", w.Code)
	}
	if status, _ := ask(t, m.desk, http.MethodGet, of("garden", 2)+"/fetch"); status != http.StatusMethodNotAllowed {
		t.Errorf("GET: %d", status)
	}
	if err := m.hub.Purge(t.Context(), m.replica("garden", 2).Session()); err != nil {
		t.Fatal(err)
	}
	if w := send(t, m.desk, of("garden", 2)+"/fetch", "{}"); !strings.Contains(w.Body.String(), "purged from the hub") {
		t.Errorf("a purged session: %d, %s", w.Code, w.Body)
	}
}
