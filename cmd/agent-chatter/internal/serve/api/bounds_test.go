package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
)

// TestPathsOutsideOfTheCatalog requests copies of a session that are not in the directory of a team.
func TestPathsOutsideOfTheCatalog(t *testing.T) {
	home := t.TempDir()
	dir := apptest.CrashedSession(t, home)
	name := apptest.AliceID + ".jsonl"
	data, err := os.ReadFile(filepath.Join(dir.Path(), name))
	if err != nil {
		t.Fatal(err)
	}
	for _, outside := range []string{"outside", ".", "sessions", filepath.Join("sessions", "review", "inner")} {
		if err := os.MkdirAll(filepath.Join(home, outside), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, outside, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := newDesk(t, home)
	read[headJSON](t, d, alice)
	var keys []string
	for _, team := range []string{
		"..", "%2e%2e", "%252e%252e", ".", "%2e", "..%2foutside", "..%5coutside", "%2e%2e%2foutside", "..%252foutside",
		"review%2f..%2f..%2foutside", "review%2finner", "review%2f", "review%00", "%00", "REVIEW", "%2fetc", "*",
	} {
		keys = append(keys, team+"/"+apptest.AliceID)
	}
	for _, id := range []string{
		"..%2f..%2foutside%2f" + apptest.AliceID, "inner%2f" + apptest.AliceID, "%2e%2e%2f" + apptest.AliceID, "..%00",
		name, apptest.AliceID + "%00", apptest.AliceID + "%20", "." + apptest.AliceID, "..", "%252e%252e", "sessions.json",
	} {
		keys = append(keys, "review/"+id)
	}
	for _, key := range keys {
		for _, part := range []string{"", "/items", "/text?seq=2", "/search?text=one", "/export?format=md", "/timeline", "/files", "/files/diff?seq=8&file=0"} {
			if status, text := ask(t, d, http.MethodGet, "/api/sessions/"+key+part); status < 300 {
				t.Errorf("%s%s: %d, %s", key, part, status, text)
			}
		}
		for _, action := range []string{"/pin", "/fork", "/trash"} {
			if status, text := ask(t, d, http.MethodPost, "/api/sessions/"+key+action); status < 300 {
				t.Errorf("%s%s: %d, %s", key, action, status, text)
			}
		}
		compared := "/api/compare?b=review/" + apptest.AliceID + "&a=" + key
		if status, text := ask(t, d, http.MethodGet, compared); status < 300 {
			t.Errorf("%s: %d, %s", compared, status, text)
		}
		if got := listen(t, d, "session="+key)(); got.Error == "" || got.Seq > 0 {
			t.Errorf("the stream follows %s: %+v", key, got)
		}
	}
}

// TestStreamsEndWithTheirClients opens streams and closes them. The goroutines of a stream end before its handler does.
func TestStreamsEndWithTheirClients(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	handler := newDesk(t, home).Handler()
	var running sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		running.Add(1)
		defer running.Done()
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	for range 50 {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/stream?list=1&session="+aliceKey, nil)
		if err != nil {
			t.Fatal(err)
		}
		response, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
	}
	cancel()
	running.Wait()
}

// A stalled writer is a connection whose client reads nothing.
type stalled struct {
	*httptest.ResponseRecorder
	deadline time.Time
}

func (s *stalled) SetWriteDeadline(t time.Time) error {
	s.deadline = t
	return nil
}

func (s *stalled) Write([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// TestStreamEndsIfNothingIsRead writes to a client that reads nothing. The stream ends after the deadline, which it sets.
func TestStreamEndsIfNothingIsRead(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	w := &stalled{ResponseRecorder: httptest.NewRecorder()}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/stream?session="+aliceKey, strings.NewReader(""))
	newDesk(t, home).Handler().ServeHTTP(w, r)
	if left := time.Until(w.deadline); left <= 0 || left > 2*keepAlive {
		t.Errorf("the deadline is in %s", left)
	}
}
