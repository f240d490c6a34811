package api

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal/trash"
	"github.com/agent-chatter/agent-chatter/projection"
)

// listen opens a stream and returns the function that waits for its next change.
func listen(t *testing.T, d *Server, query string) (next func() change) {
	t.Helper()
	server := httptest.NewServer(d.Handler())
	t.Cleanup(server.Close)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/api/stream?"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("Content-Type: %s", kind)
	}
	lines := bufio.NewScanner(response.Body)
	return func() (c change) {
		t.Helper()
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				if err := json.Unmarshal([]byte(data), &c); err != nil {
					t.Error(err)
				}
				return c
			}
		}
		t.Fatalf("the stream has ended: %v", lines.Err())
		return c
	}
}

const aliceKey = "review/" + apptest.AliceID

func TestStreamFollowsASession(t *testing.T) {
	home := t.TempDir()
	dir := apptest.CrashedSession(t, home)
	next := listen(t, newDesk(t, home), "session="+aliceKey)
	if got := next(); got != (change{Key: aliceKey, Seq: 17}) {
		t.Errorf("at first: %+v", got)
	}
	log, err := dir.Open(t.Context(), apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	task := "Mend it"
	if _, err := log.Append(projection.Record(time.Now(), projection.TaskSet{Task: &task})); err != nil {
		t.Fatal(err)
	}
	if got := next(); got.Key != aliceKey || got.Seq < 18 {
		t.Errorf("after an event: %+v", got)
	}
}

func TestStreamTellsOfTheList(t *testing.T) {
	home := t.TempDir()
	dir := apptest.CrashedSession(t, home)
	d := newDesk(t, home)
	next := listen(t, d, "list=1")
	if err := trash.Of(dir).Move(t.Context(), apptest.AliceID); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != (change{}) {
		t.Errorf("%+v", got)
	}
}

func TestStreamSaysWhatCannotBeFollowed(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	d := newDesk(t, home)
	path := filepath.Join(home, "sessions", "review", apptest.BobID+".jsonl")
	if err := os.WriteFile(path, []byte("no journal\nat all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := listen(t, d, "session=review/"+apptest.BobID)(); got.Error == "" {
		t.Errorf("a damaged journal: %+v", got)
	}
	for _, name := range []string{"review", "..%2freview/" + apptest.AliceID, "other/" + apptest.AliceID} {
		next := listen(t, d, "session="+name+"&session="+aliceKey)
		unknown, known := next(), next()
		if unknown.Error == "" {
			unknown, known = known, unknown
		}
		if unknown.Error == "" || known != (change{Key: aliceKey, Seq: 17}) {
			t.Errorf("%s: %+v, %+v", name, unknown, known)
		}
	}
	many := strings.Repeat("session="+aliceKey+"&", maxFollowed+1)
	if status, text := ask(t, d, http.MethodGet, "/api/stream?"+many); status != http.StatusBadRequest {
		t.Errorf("too many sessions: %d, %s", status, text)
	}
}

func TestAMailboxKeepsTheNewestChange(t *testing.T) {
	m := newMailbox()
	for seq := range uint64(3) {
		m.put(change{Key: "a", Seq: seq + 1})
	}
	<-m.wake
	if got := m.take(); got != "data: {\"key\":\"a\",\"seq\":3}\n\n" {
		t.Errorf("%q", got)
	}
	if got := m.take(); got != "" {
		t.Errorf("again: %q", got)
	}
}
