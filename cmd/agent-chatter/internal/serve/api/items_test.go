package api

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/journaltest"
	"github.com/agent-chatter/agent-chatter/journal/racetest"
	"github.com/agent-chatter/agent-chatter/projection"
	"github.com/agent-chatter/agent-chatter/projection/projectiontest"
	"github.com/google/go-cmp/cmp"
)

// newDesk returns a Server for a home. Its streams end with the test.
func newDesk(t testing.TB, home string) *Server {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return New(a, nil, t.Context().Done())
}

// ask sends a request and returns the status and the answer.
func ask(t testing.TB, d *Server, method, path string) (status int, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, nil))
	return w.Code, w.Body.String()
}

// read returns the answer of a request, which is JSON.
func read[T any](t testing.TB, d *Server, path string) (answer T) {
	t.Helper()
	status, text := ask(t, d, http.MethodGet, path)
	if err := json.Unmarshal([]byte(text), &answer); err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d, %s, %v", path, status, text, err)
	}
	return answer
}

const alice = "/api/sessions/review/" + apptest.AliceID

func TestItemsOfAWholeSession(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	d := newDesk(t, home)
	type shown struct {
		Seq, End uint64
		Open     bool
		Markdown string
	}
	want := []shown{
		{2, 2, false, "**You**\n\none\n"},
		{3, 7, false, "**Ada**\n\ntwo\n"},
		{8, 8, false, "**You**\n\nthree\n"},
		{9, 13, false, "**Ada**\n\na part of it\n"},
		{14, 14, false, "**You**\n\nfour\n"},
		{15, 17, true, "**Ada**\n\nthe beginning, and the rest\n"},
	}
	for _, place := range []string{"", "?around=1", "?after=0"} {
		part := read[partJSON](t, d, alice+"/items"+place)
		if part.From != 0 || part.To != 17 || !part.Started || !part.Ended || part.Notice != "" {
			t.Errorf("%q: %+v", place, part)
		}
		var got []shown
		for _, item := range part.Items {
			got = append(got, shown{item.Seq, item.End, item.Open, item.Markdown})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", place, diff)
		}
	}
	part := read[partJSON](t, d, alice+"/items?after=13")
	if part.From != 13 || part.Started || len(part.Items) != 2 || part.Items[0].Seq != 14 {
		t.Errorf("after the second turn: %+v", part)
	}
	part = read[partJSON](t, d, alice+"/items?around=17")
	if part.From != 14 || len(part.Items) != 1 || !part.Ended {
		t.Errorf("around the last event: %+v", part)
	}
	part = read[partJSON](t, d, alice+"/items?before=14")
	if part.To != 13 || part.Ended || len(part.Items) != 4 {
		t.Errorf("before the last message: %+v", part)
	}
	if part = read[partJSON](t, d, alice+"/items?after=17"); len(part.Items) != 0 || !part.Ended {
		t.Errorf("after the end: %+v", part)
	}
}

// TestItemsWalk reads a long session from its end to its beginning, and back. Every event is in one part.
func TestItemsWalk(t *testing.T) {
	racetest.SkipSequential(t)
	home := t.TempDir()
	path := filepath.Join(home, "sessions", "review", apptest.AliceID+".jsonl")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	end, err := projectiontest.WriteSession(file, 400, 1)
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	d := newDesk(t, home)
	for _, archived := range []bool{false, true} {
		if archived {
			if err := journaltest.Archive(t.Context(), d.app.Catalog.Team("review").Journals(), apptest.AliceID); err != nil {
				t.Fatal(err)
			}
		}
		part := read[partJSON](t, d, alice+"/items")
		if part.To != end.Seq || !part.Ended || part.Started {
			t.Fatalf("the end: %+v", part)
		}
		var backward []itemJSON
		for backward = part.Items; !part.Started; {
			to := part.From
			part = read[partJSON](t, d, fmt.Sprint(alice, "/items?before=", part.From+1))
			if part.To != to {
				t.Fatalf("before %d: up to %d", to+1, part.To)
			}
			backward = append(part.Items, backward...)
		}
		forward := part.Items
		for !part.Ended {
			from := part.To
			part = read[partJSON](t, d, fmt.Sprint(alice, "/items?after=", part.To))
			if part.From != from {
				t.Fatalf("after %d: from %d", from, part.From)
			}
			forward = append(forward, part.Items...)
		}
		if diff := cmp.Diff(backward, forward); diff != "" {
			t.Fatalf("archived: %t (-backward +forward):\n%s", archived, diff)
		}
		messages := 0
		for _, item := range forward {
			if item.Markdown != "" && !item.Open {
				messages++
			}
		}
		if messages != 400 {
			t.Errorf("%d messages", messages)
		}
		middle := read[partJSON](t, d, fmt.Sprint(alice, "/items?around=", end.Seq/2))
		if middle.From >= end.Seq/2 || middle.To < end.Seq/2 || middle.Items[0].Seq != middle.From+1 {
			t.Errorf("around %d: %d to %d", end.Seq/2, middle.From, middle.To)
		}
	}
}

func TestItemsRefuse(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	d := newDesk(t, home)
	if err := os.WriteFile(filepath.Join(home, "secret"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{
		alice + "/items?around=x":                                      http.StatusBadRequest,
		alice + "/items?before=-1":                                     http.StatusBadRequest,
		alice + "/items?after=99999999999999999999":                    http.StatusBadRequest,
		"/api/sessions/review/" + apptest.BobID + "/items":             http.StatusNotFound,
		"/api/sessions/other/" + apptest.AliceID + "/items":            http.StatusNotFound,
		"/api/sessions/..%2f..%2freview/" + apptest.AliceID + "/items": http.StatusNotFound,
		"/api/sessions/review/..%2f..%2fsecret/items":                  http.StatusNotFound,
		"/api/sessions/%00/%00/items":                                  http.StatusNotFound,
		"/api/sessions/review/latest/items":                            http.StatusNotFound,
		"/api/other":                                                   http.StatusNotFound,
	} {
		if status, text := ask(t, d, http.MethodGet, path); status != want {
			t.Errorf("%s: %d, %s", path, status, text)
		}
	}
	if status, _ := ask(t, d, http.MethodPost, alice+"/items"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

// damage changes the last byte of a text in a line of a session.
func damage(t *testing.T, home string, line int, text string) {
	t.Helper()
	path := filepath.Join(home, "sessions", "review", apptest.AliceID+".jsonl")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(content), "\n")
	lines[line-1] = strings.Replace(lines[line-1], text, text[:len(text)-1]+"9", 1)
	if err := os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestItemsOfATornSession(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	damage(t, home, 9, "t2")
	d := newDesk(t, home)
	if part := read[partJSON](t, d, alice+"/items"); len(part.Items) != 3 || part.Notice != "" || !part.Ended {
		t.Errorf("%+v", part)
	}
	head := read[headJSON](t, d, alice)
	if len(head.Notices) != 1 || !strings.Contains(head.Notices[0], "unfinished write") || head.LastSeq != 8 {
		t.Errorf("%+v", head)
	}
}

// extended appends events to a session, so that a line before them that is damaged is no torn tail.
func extended(t *testing.T, home string) {
	t.Helper()
	dir := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{})
	log, err := dir.Open(t.Context(), apptest.AliceID)
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
}

func TestItemsOfADamagedSession(t *testing.T) {
	home := t.TempDir()
	apptest.CrashedSession(t, home)
	extended(t, home)
	damage(t, home, 9, "t2")
	d := newDesk(t, home)
	for _, place := range []string{"", "?around=15", "?after=2"} {
		part := read[partJSON](t, d, alice+"/items"+place)
		if !part.Ended || part.To != 8 || !strings.Contains(part.Notice, " repair ") {
			t.Errorf("%q: %+v", place, part)
		}
	}
	head := read[headJSON](t, d, alice)
	if len(head.Notices) != 1 || !strings.Contains(head.Notices[0], " repair ") || head.Damaged == "" {
		t.Errorf("%+v", head)
	}
}

func TestItemsHaveNoSecrets(t *testing.T) {
	home := t.TempDir()
	dir := journal.NewDir(filepath.Join(home, "sessions", "review"), journal.Options{})
	log, err := dir.Create(apptest.AliceID)
	if err != nil {
		t.Fatal(err)
	}
	const secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz"
	you := projection.Speaker{ID: "you", Name: "you", DisplayName: "You", Type: projection.TypeHuman}
	at := time.Now()
	for _, p := range []projection.Payload{
		projection.SessionCreated{Format: projection.Format, SessionID: apptest.AliceID, Team: projection.Team{
			ID: "review", Name: "review", Members: []projection.Member{}}},
		projection.NewMessage("m1", at, you, "the key is "+secret, nil),
		projection.TurnStarted{TurnID: "t1", MemberID: "ada"},
		projection.TurnText{TurnID: "t1", Text: "It is " + secret[:10]},
		projection.TurnText{TurnID: "t1", Text: secret[10:] + ". "},
		projection.ToolStarted{TurnID: "t1", ToolID: "x", Name: "look", Input: json.RawMessage(`{"path":"` + secret + `"}`)},
		projection.ToolCompleted{TurnID: "t1", ToolID: "x", Name: "look", Output: secret},
	} {
		if _, err := log.Append(projection.Record(at, p)); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, home)
	for _, path := range []string{"/api/sessions", alice, alice + "/items"} {
		if _, text := ask(t, d, http.MethodGet, path); strings.Contains(text, secret[:10]) {
			t.Errorf("%s: %s", path, text)
		}
	}
	if part := read[partJSON](t, d, alice+"/items"); len(part.Items) != 2 ||
		!strings.Contains(part.Items[0].Markdown, "the key is [") {
		t.Errorf("%+v", part)
	}
}
