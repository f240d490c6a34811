package api

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"

// sessionID returns the id of a session of a test.
func sessionID(n int) string { return fmt.Sprintf("01KAH9TQ4GJ5X8C2VRB%07d", n) }

// teamDir returns the journals of a team.
func teamDir(home, team string) *journal.Dir {
	return journal.NewDir(filepath.Join(home, "sessions", team), journal.Options{})
}

// open writes a session whose first message is its title, with other messages and events, and leaves it open.
func open(t *testing.T, home, team string, n int, age time.Duration, title string, more ...any) *journal.Log {
	t.Helper()
	log, err := teamDir(home, team).Create(sessionID(n))
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	records := []journal.Record{projection.Record(at, projection.SessionCreated{
		Format: projection.Format, SessionID: sessionID(n), CWD: "/projects/" + team,
		Team: projection.Team{ID: team, Name: team, Members: []projection.Member{}},
	})}
	for i, one := range append([]any{title}, more...) {
		p, ok := one.(projection.Payload)
		if !ok {
			p = projection.NewMessage(fmt.Sprint("m", i), at, you, one.(string), nil)
		}
		records = append(records, projection.Record(at, p))
	}
	if _, err := log.Append(records...); err != nil {
		t.Fatal(err)
	}
	return log
}

// write is open for a session that is closed.
func write(t *testing.T, home, team string, n int, age time.Duration, title string, more ...any) {
	t.Helper()
	if err := open(t, home, team, n, age, title, more...).Close(); err != nil {
		t.Fatal(err)
	}
}

// spoil damages the third line of a session, in which events were synced after it.
func spoil(t *testing.T, home, team string, n int) {
	t.Helper()
	log, err := teamDir(home, team).Open(t.Context(), sessionID(n))
	if err != nil {
		t.Fatal(err)
	}
	task := "Mend it"
	for range 2 {
		if _, err := log.Append(projection.Record(time.Now(), projection.TaskSet{Task: &task})); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(home, "sessions", team, sessionID(n)+".jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	lines[2] = strings.Replace(lines[2], `"m`, `"n`, 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

// titles are the titles of a list, in its order.
func titles(l listJSON) (names []string) {
	for _, s := range l.Sessions {
		names = append(names, s.Title)
	}
	return names
}

func TestPartsOfTheList(t *testing.T) {
	home := t.TempDir()
	for n := range 5 {
		write(t, home, "shop", n, time.Duration(n)*time.Hour, fmt.Sprint("session ", n))
	}
	d := newDesk(t, home)
	for query, want := range map[string]listJSON{
		"":                {From: 0},
		"from=1&limit=2":  {From: 1},
		"from=4":          {From: 4},
		"from=5":          {From: 5},
		"from=9999999999": {From: 5},
	} {
		got := read[listJSON](t, d, "/api/sessions?"+query)
		var all []string
		for n := want.From; n < 5 && (n < 3 || !strings.Contains(query, "limit")); n++ {
			all = append(all, fmt.Sprint("session ", n))
		}
		if got.From != want.From || got.Total != 5 || got.Place != nil || !slices.Equal(titles(got), all) {
			t.Errorf("%s: %+v", query, got)
		}
	}
	got := read[listJSON](t, d, "/api/sessions?limit=1&find=shop/"+sessionID(3))
	if got.Place == nil || *got.Place != 3 {
		t.Errorf("the place of session 3: %v", got.Place)
	}
	if got = read[listJSON](t, d, "/api/sessions?find=shop/"+sessionID(9)); got.Place != nil {
		t.Errorf("the place of no session: %d", *got.Place)
	}
	for _, query := range []string{"from=-1", "from=x", "limit=0", "limit=101", "sort=no", "live=no", "from=1e9"} {
		if status, text := ask(t, d, http.MethodGet, "/api/sessions?"+query); status != http.StatusBadRequest {
			t.Errorf("%s: %d, %s", query, status, text)
		}
	}
	if status, _ := ask(t, d, http.MethodPost, "/api/sessions"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

func TestFiltersOfTheList(t *testing.T) {
	home := t.TempDir()
	log := open(t, home, "shop", 1, time.Hour, "Live")
	defer log.Close()
	write(t, home, "shop", 2, 2*time.Hour, "Archived")
	if err := journaltest.Archive(t.Context(), teamDir(home, "shop"), sessionID(2)); err != nil {
		t.Fatal(err)
	}
	write(t, home, "kitchen", 3, 3*time.Hour, "Damaged", "more", "and more")
	spoil(t, home, "kitchen", 3)
	write(t, home, "kitchen", 4, 4*time.Hour, "Another", projection.SessionPinned{Pinned: true})
	d := newDesk(t, home)
	for query, want := range map[string][]string{
		"":                           {"Live", "Damaged", "Archived", "Another"},
		"live=only":                  {"Live"},
		"archived=only":              {"Archived"},
		"damaged=only":               {"Damaged"},
		"damaged=without&sort=title": {"Live", "Another", "Archived"},
		"team=kitchen":               {"Damaged", "Another"},
		"cwd=/projects/shop":         {"Live", "Archived"},
		"text=an":                    {"Another"},
		"text=Kitchen":               nil,
		"text=kitchen":               {"Damaged", "Another"},
		"team=none":                  nil,
	} {
		if got := titles(read[listJSON](t, d, "/api/sessions?"+query)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
	all := read[listJSON](t, d, "/api/sessions").Sessions
	for i, s := range all {
		if (s.Damaged != "") != (i == 1) || s.Live != (i == 0) || s.Archived != (i == 2) || s.Pinned != (i == 3) {
			t.Errorf("%s: %+v", s.Title, s)
		}
	}
	if key := "kitchen/" + sessionID(4); all[3].Key != key || all[3].LastSpeaker != "You" || all[3].Messages != 1 {
		t.Errorf("%+v", all[3])
	}
}

func TestListSaysWhatRetentionWillDo(t *testing.T) {
	const day = 24 * time.Hour
	home := t.TempDir()
	write(t, home, "shop", 0, 19*day, "newest")
	defer open(t, home, "shop", 1, 19*day+time.Hour, "live").Close()
	write(t, home, "shop", 2, 20*day+time.Hour, "young")
	write(t, home, "shop", 3, 29*day+time.Hour, "older")
	write(t, home, "shop", 4, 31*day, "old")
	write(t, home, "shop", 5, 40*day, "pinned", projection.SessionPinned{Pinned: true})
	write(t, home, "shop", 6, 50*day+time.Hour, "archived")
	if err := journaltest.Archive(t.Context(), teamDir(home, "shop"), sessionID(6)); err != nil {
		t.Fatal(err)
	}
	write(t, home, "kitchen", 7, 60*day, "alone")
	never := map[string]string{
		"young": "will be archived in 10 days", "older": "will be archived in 1 day",
		"old": "will be archived at the end of the next chat",
	}
	for config, want := range map[string]map[string]string{
		`{"retention":{"keep":1}}`: never,
		`{"retention":{"keep":1,"deleteAfter":"60d"}}`: {
			"young": never["young"], "older": never["older"], "old": never["old"],
			"archived": "will be moved to the trash in 10 days",
		},
		`{"retention":{"keep":0,"archiveAfter":"90d","deleteAfter":"30d"}}`: {
			"newest": "will be moved to the trash in 11 days", "young": "will be moved to the trash in 10 days",
			"older": "will be moved to the trash in 1 day", "old": "will be moved to the trash at the end of the next chat",
			"archived": "will be moved to the trash at the end of the next chat",
			"alone":    "will be moved to the trash at the end of the next chat",
		},
		`{"retention":{"keep":1,"auto":false}}`: {},
		`{"retention":{"keep":10}}`:             {},
		`{`:                                     {},
	} {
		if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		d := newDesk(t, home)
		for _, query := range []string{"", "?sort=title", "?text=o&limit=100"} {
			for _, s := range read[listJSON](t, d, "/api/sessions"+query).Sessions {
				if s.Retention != want[s.Title] {
					t.Errorf("%s, %q: %s %q, want %q", config, query, s.Title, s.Retention, want[s.Title])
				}
			}
		}
	}
}

func TestTrash(t *testing.T) {
	home := t.TempDir()
	d := newDesk(t, home)
	if got := read[listJSON](t, d, "/api/trash"); got.Total != 0 || len(got.Sessions) != 0 {
		t.Errorf("an empty home: %+v", got)
	}
	for n := range 3 {
		write(t, home, "shop", n, time.Hour, fmt.Sprint("session ", n, " ", token), "more")
		if err := trash.Of(teamDir(home, "shop")).Move(t.Context(), sessionID(n)); err != nil {
			t.Fatal(err)
		}
	}
	got := read[listJSON](t, d, "/api/trash?from=1&limit=1&find=shop/"+sessionID(2))
	if got.Total != 3 || got.From != 1 || len(got.Sessions) != 1 || got.Place == nil {
		t.Fatalf("%+v", got)
	}
	all := read[listJSON](t, d, "/api/trash")
	if s := all.Sessions[1]; !cmp.Equal(s, got.Sessions[0]) || s.Trashed.IsZero() || s.Team != "shop" ||
		s.CWD != "/projects/shop" || !strings.HasPrefix(s.Title, "session ") || s.Resume != "agent-chatter sessions restore "+s.ID {
		t.Errorf("%+v", s)
	}
	if all.Sessions[*got.Place].Key != "shop/"+sessionID(2) {
		t.Errorf("the place of session 2: %d in %+v", *got.Place, all)
	}
	if _, text := ask(t, d, http.MethodGet, "/api/trash"); strings.Contains(text, token[:10]) {
		t.Errorf("a secret: %s", text)
	}
	if status, _ := ask(t, d, http.MethodGet, "/api/trash?limit=1000"); status != http.StatusBadRequest {
		t.Errorf("too many: %d", status)
	}
	if status, _ := ask(t, d, http.MethodPost, "/api/trash"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

// Text of a session is safe and without secrets wherever it is shown.
func TestListIsSafe(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, apptest.Hostile+" "+token)
	status, text := ask(t, newDesk(t, home), http.MethodGet, "/api/sessions")
	if r, found := apptest.Acting(text); found || status != http.StatusOK || strings.Contains(text, token[:10]) {
		t.Errorf("%d, %U: %s", status, r, text)
	}
}
