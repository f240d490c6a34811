package api

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection/catalog"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
	"github.com/google/go-cmp/cmp"
)

// Live sessions are before the others in every part of the list, in any order and with any filter.
func TestLiveSessionsAreFirst(t *testing.T) {
	home := t.TempDir()
	var logs []*journal.Log
	for n := range 7 {
		team, title := []string{"shop", "kitchen"}[n%2], fmt.Sprint("session ", n)
		log := open(t, home, team, n, time.Duration(n)*time.Hour, title)
		if n == 3 || n == 4 {
			logs = append(logs, log)
		} else if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	d := newDesk(t, home)
	for query, want := range map[string]string{
		"":                          "3 4 0 1 2 5 6",
		"sort=title":                "3 4 0 1 2 5 6",
		"sort=created":              "3 4 0 1 2 5 6",
		"team=kitchen":              "3 1 5",
		"live=without":              "0 1 2 5 6",
		"text=session":              "3 4 0 1 2 5 6",
		"group=directory":           "3 1 5 4 0 2 6",
		"group=directory&team=shop": "4 0 2 6",
	} {
		var got []string
		for from := 0; ; from += 2 {
			part := read[listJSON](t, d, fmt.Sprintf("/api/sessions?%s&from=%d&limit=2", query, from))
			for _, s := range part.Sessions {
				got = append(got, strings.TrimPrefix(s.Title, "session "))
			}
			if from+2 >= part.Total {
				break
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %v, want %s", query, got, want)
		}
	}
	if got := read[listJSON](t, d, "/api/sessions?find=shop/"+sessionID(4)).Place; got == nil || *got != 1 {
		t.Errorf("the place of session 4: %v", got)
	}
	before, err := d.signature(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if after, err := d.signature(t.Context()); err != nil || after == before {
		t.Errorf("two sessions ended, and the list is not different: %v", err)
	}
	if got := titles(read[listJSON](t, d, "/api/sessions?limit=2")); !slices.Equal(got, []string{"session 0", "session 1"}) {
		t.Errorf("none is live: %q", got)
	}
}

func TestGroupsOfTheList(t *testing.T) {
	home := t.TempDir()
	for n, team := range []string{"shop", "kitchen", "shop", apptest.Hostile} {
		write(t, home, fmt.Sprint("team", n), n, time.Duration(n)*time.Hour, team+" "+fmt.Sprint(n))
	}
	write(t, home, "team0", 5, 5*time.Hour, "shop 5")
	d := newDesk(t, home)
	got := read[listJSON](t, d, "/api/sessions?group=directory&from=3&limit=1")
	want := []groupJSON{
		{"/projects/team0", 0, 2}, {"/projects/team1", 2, 1}, {"/projects/team2", 3, 1}, {"/projects/team3", 4, 1},
	}
	if !cmp.Equal(got.Groups, want) || got.Total != 5 || len(got.Sessions) != 1 || got.Sessions[0].CWD != "/projects/team2" {
		t.Errorf("%+v", got)
	}
	if got := read[listJSON](t, d, "/api/sessions?group=directory&team=none"); len(got.Groups) != 0 || got.Total != 0 {
		t.Errorf("no session: %+v", got)
	}
	if got := read[listJSON](t, d, "/api/sessions"); got.Groups != nil {
		t.Errorf("without groups: %+v", got.Groups)
	}
	if status, text := ask(t, d, http.MethodGet, "/api/sessions?group=team"); status != http.StatusBadRequest {
		t.Errorf("an unknown group: %d, %s", status, text)
	}
}

// BenchmarkList compares the list as it is, and in groups, with what the catalog lists.
func BenchmarkList(b *testing.B) {
	home := b.TempDir()
	sessions := catalogtest.Sessions{Team: "shop", Count: 10_000}
	if _, err := sessions.Fill(home + "/sessions"); err != nil {
		b.Fatal(err)
	}
	d := newDesk(b, home)
	ask := func(query string) func() {
		return func() { read[listJSON](b, d, "/api/sessions?limit=100"+query) }
	}
	catalogued := func() {
		if _, err := d.listed(b.Context(), catalog.Query{Limit: 1}); err != nil {
			b.Fatal(err)
		}
	}
	taking := func(do func()) time.Duration {
		began := time.Now()
		do()
		return time.Since(began)
	}
	catalogued()
	var base, plain, grouped time.Duration
	for b.Loop() {
		base += taking(catalogued)
		plain += taking(ask(""))
		grouped += taking(ask("&group=directory"))
	}
	b.ReportMetric(float64(plain)/float64(base), "list/catalog")
	b.ReportMetric(float64(grouped)/float64(base), "grouped/catalog")
}
