package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// send sends a request with a JSON body.
func send(t testing.TB, d *Server, path, body string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	w := httptest.NewRecorder()
	d.Handler().ServeHTTP(w, r)
	return w
}

// changed makes a change and returns what it did.
func changed(t *testing.T, d *Server, path, body string) (done doneJSON) {
	t.Helper()
	w := send(t, d, path, body)
	if err := json.Unmarshal(w.Body.Bytes(), &done); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d, %s, %v", path, w.Code, w.Body, err)
	}
	return done
}

// of returns the address of a session of a team.
func of(team string, n int) string { return "/api/sessions/" + team + "/" + sessionID(n) }

func TestChanges(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "The checkout", "two", "three")
	d := newDesk(t, home)
	now := func() headJSON { return read[headJSON](t, d, of("shop", 1)) }

	done := changed(t, d, of("shop", 1)+"/rename", `{"title":" new\n"}`)
	if s := now(); s.Title != "new" || done.Text != "Renamed to: new" || done.Key != s.Key || done.Undo != 1 {
		t.Errorf("rename: %q, %+v", s.Title, done)
	}
	done = changed(t, d, "/api/undo", `{"undo":1}`)
	if s := now(); s.Title != "The checkout" || done.Text != "Renamed to: The checkout" || done.Undo != 0 {
		t.Errorf("undo: %q, %+v", s.Title, done)
	}
	if w := send(t, d, "/api/undo", `{"undo":1}`); w.Code != http.StatusNotFound {
		t.Errorf("undo once more: %d, %s", w.Code, w.Body)
	}

	for _, pinned := range []string{"true", "false"} {
		done = changed(t, d, of("shop", 1)+"/pin", `{"pinned":`+pinned+`}`)
		if s := now(); s.Pinned != (pinned == "true") || done.Undo == 0 {
			t.Errorf("pinned: %s, %+v", pinned, done)
		}
	}

	done = changed(t, d, of("shop", 1)+"/fork", `{"seq":3}`)
	fork := read[headJSON](t, d, "/api/sessions/"+done.Key)
	if fork.Messages != 2 || fork.ID == sessionID(1) || done.Undo != 0 || !strings.Contains(done.Text, "is a copy of") {
		t.Errorf("fork: %+v, %+v", fork, done)
	}
	done = changed(t, d, of("shop", 1)+"/fork", `{}`)
	if fork := read[headJSON](t, d, "/api/sessions/"+done.Key); fork.Messages != 3 {
		t.Errorf("a whole fork: %+v", fork)
	}

	done = changed(t, d, of("shop", 1)+"/trash", `{}`)
	if status, _ := ask(t, d, http.MethodGet, of("shop", 1)); status != http.StatusNotFound || done.Undo == 0 {
		t.Errorf("trash: %d, %+v", status, done)
	}
	w := send(t, d, of("shop", 1)+"/rename", `{"title":"a"}`)
	if w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "sessions restore "+sessionID(1)) {
		t.Errorf("rename in the trash: %d, %s", w.Code, w.Body)
	}
	changed(t, d, "/api/undo", `{"undo":`+strings.TrimSpace(jsonOf(done.Undo))+`}`)
	if s := now(); s.Title != "The checkout" {
		t.Errorf("out of the trash: %+v", s)
	}
	changed(t, d, of("shop", 1)+"/trash", `{}`)
	if done = changed(t, d, of("shop", 1)+"/restore", `{}`); done.Text != "Restored: The checkout" || done.Undo != 0 {
		t.Errorf("restore: %+v", done)
	}
}

func jsonOf(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

var changeNames = []string{"rename", "pin", "fork", "trash", "restore"}

func TestChangesRefuse(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "one")
	if err := os.WriteFile(filepath.Join(home, "secret.jsonl"), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, home)
	for _, name := range changeNames {
		for path, want := range map[string]int{
			"/api/sessions/shop/" + sessionID(2):               http.StatusNotFound,
			"/api/sessions/none/" + sessionID(1):               http.StatusNotFound,
			"/api/sessions/..%2fshop/" + sessionID(1):          http.StatusNotFound,
			"/api/sessions/shop/..%2f..%2fsecret":              http.StatusNotFound,
			"/api/sessions/shop%2f..%2fshop/" + sessionID(1):   http.StatusNotFound,
			"/api/sessions/%2e%2e/" + sessionID(1):             http.StatusNotFound,
			"/api/sessions/shop/latest":                        http.StatusNotFound,
			"/api/sessions/%00/%00":                            http.StatusNotFound,
			"/api/sessions/shop/" + sessionID(1) + "%00.jsonl": http.StatusNotFound,
		} {
			if w := send(t, d, path+"/"+name, `{"title":"x"}`); w.Code != want {
				t.Errorf("%s %s: %d, %s", name, path, w.Code, w.Body)
			}
		}
		for _, body := range []string{"", "x", "[]", `"x"`, `{"title":1}`, `{"other":1}`, `{}{}`, `{"seq":-1}`, `{"pinned":"yes"}`, "{"} {
			if w := send(t, d, of("shop", 1)+"/"+name, body); w.Code != http.StatusBadRequest {
				t.Errorf("%s with %q: %d, %s", name, body, w.Code, w.Body)
			}
		}
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			if status, _ := ask(t, d, method, of("shop", 1)+"/"+name); status != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: %d", method, name, status)
			}
		}
		if status, _ := ask(t, d, http.MethodPost, of("shop", 1)+"/"+name); status != http.StatusBadRequest {
			t.Errorf("%s without a type: %d", name, status)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, of("shop", 1)+"/"+name,
			strings.NewReader(`{"title":"`+strings.Repeat("a", 100)+`"}`))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		r.Body = http.MaxBytesReader(w, r.Body, 100)
		if d.Handler().ServeHTTP(w, r); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%s with a long body: %d, %s", name, w.Code, w.Body)
		}
	}
	for body, want := range map[string]int{
		`{"title":""}`: http.StatusBadRequest, `{"title":" \n"}`: http.StatusBadRequest, `{}`: http.StatusBadRequest,
		`{"title":"` + strings.Repeat("a", 501) + `"}`: http.StatusBadRequest,
	} {
		if w := send(t, d, of("shop", 1)+"/rename", body); w.Code != want {
			t.Errorf("rename with %s: %d, %s", body, w.Code, w.Body)
		}
	}
	if w := send(t, d, of("shop", 1)+"/fork", `{"seq":99}`); w.Code != http.StatusNotFound {
		t.Errorf("fork at a missing event: %d, %s", w.Code, w.Body)
	}
	if s := read[headJSON](t, d, of("shop", 1)); s.Title != "one" || s.LastSeq != 2 {
		t.Errorf("it was changed: %+v", s)
	}
	for body, want := range map[string]int{"x": http.StatusBadRequest, `{"undo":7}`: http.StatusNotFound, `{}`: http.StatusNotFound} {
		if w := send(t, d, "/api/undo", body); w.Code != want {
			t.Errorf("undo with %s: %d, %s", body, w.Code, w.Body)
		}
	}
	if status, _ := ask(t, d, http.MethodGet, "/api/undo"); status != http.StatusMethodNotAllowed {
		t.Errorf("GET /api/undo: %d", status)
	}
}

// A session that is open elsewhere, or pinned, is not changed, and the answer names the command to type.
func TestChangesOfALockedAndOfAPinnedSession(t *testing.T) {
	home := t.TempDir()
	log := open(t, home, "shop", 1, time.Hour, "locked")
	write(t, home, "shop", 2, time.Hour, "pinned", projection.SessionPinned{Pinned: true})
	d := newDesk(t, home)
	for _, name := range []string{"rename", "pin", "trash"} {
		w := send(t, d, of("shop", 1)+"/"+name, `{"title":"x","pinned":true}`)
		if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "is locked by process") ||
			!strings.Contains(w.Body.String(), "tail -f "+sessionID(1)) {
			t.Errorf("%s: %d, %s", name, w.Code, w.Body)
		}
	}
	changed(t, d, of("shop", 1)+"/fork", `{}`)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	done := changed(t, d, of("shop", 1)+"/rename", `{"title":"free"}`)
	log, err := teamDir(home, "shop").Open(t.Context(), sessionID(1))
	if err != nil {
		t.Fatal(err)
	}
	undo := `{"undo":` + jsonOf(done.Undo) + `}`
	if w := send(t, d, "/api/undo", undo); w.Code != http.StatusConflict {
		t.Errorf("undo of a locked session: %d, %s", w.Code, w.Body)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	changed(t, d, "/api/undo", undo)

	w := send(t, d, of("shop", 2)+"/trash", `{}`)
	if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "sessions unpin "+sessionID(2)) {
		t.Errorf("trash of a pinned session: %d, %s", w.Code, w.Body)
	}
}

func TestChangesHaveNoSecrets(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, token, apptest.Hostile)
	d := newDesk(t, home)
	for _, request := range [][2]string{
		{"rename", `{"title":"` + token + ` ` + strings.ReplaceAll(apptest.Hostile, `"`, `\"`) + `"}`},
		{"rename", `{"title":"plain"}`},
	} {
		w := send(t, d, of("shop", 1)+"/"+request[0], request[1])
		if strings.Contains(w.Body.String(), token[:10]) {
			t.Errorf("%s: %s", request[0], w.Body)
		}
	}
	for _, path := range []string{"/trash", "/restore", "/fork"} {
		if done := changed(t, d, of("shop", 1)+path, `{}`); strings.Contains(jsonOf(done), token[:10]) {
			t.Errorf("%s: %+v", path, done)
		}
	}
	write(t, home, "shop", 2, time.Hour, token)
	for _, path := range []string{"/trash", "/restore"} {
		if done := changed(t, d, of("shop", 2)+path, `{}`); !strings.Contains(done.Text, "REDACTED") {
			t.Errorf("%s: %+v", path, done)
		}
	}
}

func TestTheOldestUndoIsForgotten(t *testing.T) {
	l := undoList{of: map[int]undo{}}
	for range maxUndo + 1 {
		l.add(undo{})
	}
	_, oldest := l.take(1)
	_, next := l.take(2)
	_, again := l.take(2)
	if oldest || !next || again || len(l.of) != maxUndo-1 {
		t.Errorf("%t %t %t, %d", oldest, next, again, len(l.of))
	}
}

func TestExport(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "The checkout", "the key is "+token)
	d := newDesk(t, home)
	before, err := filepath.Glob(filepath.Join(home, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for format, name := range map[string]string{
		"": sessionID(1) + ".md", "md": sessionID(1) + ".md", "html": sessionID(1) + ".html", "json": sessionID(1) + ".json",
		"jsonl": sessionID(1) + ".jsonl", "bundle": sessionID(1) + ".bundle", "snapshot": "", "claude": "", "codex": "", "gemini": "",
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, of("shop", 1)+"/export?format="+format, nil)
		w := httptest.NewRecorder()
		d.Handler().ServeHTTP(w, r)
		text, h := w.Body.String(), w.Header()
		if w.Code != http.StatusOK || format != "bundle" && !strings.Contains(text, "The checkout") || strings.Contains(text, token[:10]) {
			t.Errorf("%s: %d, %.200s", format, w.Code, text)
		}
		if got := h.Get("Content-Disposition"); h.Get("Content-Type") != "application/octet-stream" ||
			!strings.HasPrefix(got, "attachment; filename=") || !strings.Contains(got, name) {
			t.Errorf("%s: %v", format, h)
		}
		if h.Get("Agent-Chatter-Notice") != "" {
			t.Errorf("%s: %s", format, h.Get("Agent-Chatter-Notice"))
		}
	}
	if after, err := filepath.Glob(filepath.Join(home, "*")); err != nil || len(after) != len(before) {
		t.Errorf("the home has %q, had %q", after, before)
	}
	for path, want := range map[string]int{
		of("shop", 1) + "/export?format=exe":                  http.StatusBadRequest,
		of("shop", 1) + "/export?format=../../x":              http.StatusBadRequest,
		of("shop", 1) + "/export?format=auto":                 http.StatusBadRequest,
		of("shop", 2) + "/export":                             http.StatusNotFound,
		of("none", 1) + "/export":                             http.StatusNotFound,
		"/api/sessions/shop/..%2f..%2fx/export":               http.StatusNotFound,
		"/api/sessions/..%2fshop/" + sessionID(1) + "/export": http.StatusNotFound,
	} {
		if status, text := ask(t, d, http.MethodGet, path); status != want || !strings.Contains(text, `"error"`) {
			t.Errorf("%s: %d, %s", path, status, text)
		}
	}
	if status, _ := ask(t, d, http.MethodPost, of("shop", 1)+"/export"); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}

// What may be missing is said in a header, since the file is sent meanwhile.
func TestExportNotices(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "one")
	path := filepath.Join(home, "sessions", "shop", sessionID(1)+".jsonl")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"seq":`); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, of("shop", 1)+"/export", nil)
	w := httptest.NewRecorder()
	newDesk(t, home).Handler().ServeHTTP(w, r)
	notice, err := url.PathUnescape(w.Header().Get("Agent-Chatter-Notice"))
	if err != nil || !strings.Contains(notice, "7 bytes of an unfinished write") || w.Code != http.StatusOK {
		t.Errorf("%d, %q, %v", w.Code, notice, err)
	}
}

func TestExportOfADamagedSession(t *testing.T) {
	home := t.TempDir()
	write(t, home, "shop", 1, time.Hour, "one", "two", "three")
	spoil(t, home, "shop", 1)
	status, text := ask(t, newDesk(t, home), http.MethodGet, of("shop", 1)+"/export")
	if status == http.StatusOK || !strings.Contains(text, "repair "+sessionID(1)) {
		t.Errorf("%d, %s", status, text)
	}
}
