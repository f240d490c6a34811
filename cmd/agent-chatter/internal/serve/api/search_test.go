package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/google/go-cmp/cmp"
)

// searched returns the lines of the answer to a search.
func searched(t *testing.T, d *Server, query string) (found []foundJSON) {
	t.Helper()
	status, text := ask(t, d, http.MethodGet, "/api/search?"+query)
	if status != http.StatusOK {
		t.Fatalf("%s: %d, %s", query, status, text)
	}
	in := json.NewDecoder(strings.NewReader(text))
	for in.More() {
		var line foundJSON
		if err := in.Decode(&line); err != nil {
			t.Fatal(err)
		}
		found = append(found, line)
	}
	return found
}

// summary is what a test compares of a search: the session, the number of its hits, and their lines.
func summary(found []foundJSON) (lines []string) {
	for _, f := range found {
		switch {
		case f.Session != nil:
			lines = append(lines, fmt.Sprint(f.Session.Team, " ", f.Count))
			for _, h := range f.Hits {
				lines = append(lines, fmt.Sprintf("%d %s: %s", h.Seq, h.Speaker, strings.Join(h.Line, "|")))
			}
		case f.Error != "":
			lines = append(lines, f.Error)
		case f.End:
			lines = append(lines, fmt.Sprint("end ", f.Total, " of ", f.Searched, " ", f.Limited))
		}
	}
	return lines
}

func TestSearch(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "Two apples", "no fruit\nan Apple and an apple, at last\nan apple")
	write(t, home, "kitchen", 2, 2*time.Hour, "An apple in the archive")
	if err := journaltest.Archive(t.Context(), teamDir(home, "kitchen"), sessionID(2)); err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("é", 100) + "apple" + strings.Repeat("ü", 300)
	write(t, home, "cellar", 3, 3*time.Hour, "Nothing", long, projection.TurnEnded{
		TurnID: "t1", MemberID: "ada", FinishReason: projection.Interrupted, Partial: "an apple"})
	d := newDesk(t, home)
	shop := []string{"shop 2", "2 You: Two |apple|s", "3 You: an |Apple| and an |apple|, at last"}
	kitchen := []string{"kitchen 1", "2 You: An |apple| in the archive"}
	cellar := []string{"cellar 2", "3 You: …" + strings.Repeat("é", 60) + "|apple|" + strings.Repeat("ü", 200) + "…",
		"4 ada: an |apple|"}
	join := func(parts ...[]string) (all []string) {
		for _, part := range parts {
			all = append(all, part...)
		}
		return all
	}
	for query, want := range map[string][]string{
		"text=apple":               join(shop, kitchen, cellar, []string{"end 5 of 3 false"}),
		"text=Apple":               {"shop 1", "3 You: an |Apple| and an apple, at last", "end 1 of 3 false"},
		"text=apple&archived=only": join(kitchen, []string{"end 1 of 1 false"}),
		"text=apple&team=shop":     join(shop, []string{"end 2 of 1 false"}),
		"text=pear":                {"end 0 of 3 false"},
		"text=pear&team=none":      {"end 0 of 0 false"},
		"text=ghp_":                {"end 0 of 3 false"},
		"text=.*":                  {"end 0 of 3 false"},
	} {
		got := summary(searched(t, d, query))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", query, diff)
		}
	}
}

func TestSearchIsBounded(t *testing.T) {
	home := t.TempDir()
	const sessions, hits = maxFound/maxSessionHits + 2, maxSessionHits + 5
	for n := range sessions {
		messages := make([]any, hits-1)
		for i := range messages {
			messages[i] = "apple"
		}
		write(t, home, "shop", n, time.Duration(n)*time.Hour, "apple", messages...)
	}
	found := searched(t, newDesk(t, home), "text=apple")
	end := found[len(found)-1]
	if want := maxFound / maxSessionHits; len(found) != want+1 || !end.Limited || end.Total != want*hits {
		t.Errorf("%d lines, %+v", len(found), end)
	}
	for _, f := range found[:len(found)-1] {
		if f.Count != hits || len(f.Hits) != maxSessionHits {
			t.Errorf("%s: %d of %d hits", f.Session.Key, len(f.Hits), f.Count)
		}
	}
}

func TestSearchReportsDamage(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "an apple", "more", "and more")
	spoil(t, home, "shop", 1)
	got := summary(searched(t, newDesk(t, home), "text=apple"))
	if len(got) != 4 || got[0] != "shop 1" || !strings.Contains(got[2], "was not searched to its end") ||
		!strings.Contains(got[2], "verify "+sessionID(1)) {
		t.Errorf("%q", got)
	}
}

// A search in a secret finds nothing, and no answer has one.
func TestSearchHasNoSecrets(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "the key", "it is "+token+" here\n"+apptest.Hostile,
		"-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAabcdef\n-----END RSA PRIVATE KEY-----")
	d := newDesk(t, home)
	for text, hits := range map[string]int{"it is": 1, "here": 1, "0123456789": 0, "MIIE": 0, token: 0} {
		_, answer := ask(t, d, http.MethodGet, "/api/search?text="+url.QueryEscape(text))
		r, acting := apptest.Acting(answer)
		if acting || strings.Contains(answer, token[:10]) || strings.Contains(answer, "MIIE") {
			t.Errorf("%s: %U, %s", text, r, answer)
		}
		found := searched(t, d, "text="+url.QueryEscape(text))
		if end := found[len(found)-1]; end.Total != hits {
			t.Errorf("%s: %d hits", text, end.Total)
		}
	}
}

func TestSearchRefuses(t *testing.T) {
	d := newDesk(t, t.TempDir())
	for query, want := range map[string]int{
		"": http.StatusBadRequest, "text=": http.StatusBadRequest, "text=a&live=no": http.StatusBadRequest, "text=a": http.StatusOK,
	} {
		if status, text := ask(t, d, http.MethodGet, "/api/search?"+query); status != want {
			t.Errorf("%q: %d, %s", query, status, text)
		}
	}
	if status, _ := ask(t, d, http.MethodPost, "/api/search?text=a"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

// A search ends when the client goes away, or the server ends.
func TestSearchEndsEarly(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "apple")
	d := newDesk(t, home)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, httptest.NewRequestWithContext(gone, http.MethodGet, "/api/search?text=apple", nil))
	if strings.Contains(w.Body.String(), `"end"`) {
		t.Errorf("without a client: %s", w.Body)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	done := make(chan struct{})
	ctx, cancel := (&Server{done: done}).untilEnd(r)
	defer cancel()
	close(done)
	<-ctx.Done()
}
