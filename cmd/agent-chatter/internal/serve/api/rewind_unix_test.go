//go:build unix

package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/filechanges/filestest"
	"github.com/agent-chatter/agent-chatter/projection"
)

// The plan of going back has what happens to the files, and changes none of them.
func TestRewindPlan(t *testing.T) {
	t.Setenv("SHOP_API_KEY", "sk-verysecretvalue0123456789")
	dir := t.TempDir()
	d := newDesk(t, t.TempDir())
	d.hosts = struct{ Hosts }{}
	s := filestest.Write(t, d.app, dir, "Edit\x1b with sk-verysecretvalue0123456789",
		filestest.Turn{Agent: filestest.Files(t, map[string]string{"cart.go": "one\n", "kept.go": "one\n"})},
		filestest.Turn{Agent: filestest.Files(t, map[string]string{"cart.go": "two\n", "new\u202e.go": "two\n", "kept.go": "two\n"})},
	)
	if err := os.WriteFile(filepath.Join(dir, "kept.go"), []byte("three\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan := func(body string) (answer rewindJSON, status int) {
		t.Helper()
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/api/sessions/shop/"+s.ID+"/rewind", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		d.Handler().ServeHTTP(w, r)
		if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %v", w.Body, err)
		}
		return answer, w.Code
	}
	var messages []uint64
	for e, err := range d.app.Catalog.At(s.Dir()).Events(t.Context(), s.ID) {
		if err != nil {
			t.Fatal(err)
		}
		if m, ok := projection.DecodeEvent(e).Payload.(projection.MessageAppended); ok && m.Message.Speaker.Type == projection.TypeHuman {
			messages = append(messages, e.Seq)
		}
	}
	got, status := plan(fmt.Sprintf(`{"seq": %d}`, messages[1]))
	if status != http.StatusOK || !got.Files || got.Before != messages[1]-1 ||
		strings.ContainsAny(got.Plan+got.Text, "\x1b\u202e") || strings.Contains(got.Text, "verysecret") {
		t.Fatalf("%d, %+v", status, got)
	}
	for _, want := range []string{"replace  cart.go", "remove   new", "keep     kept.go"} {
		if !strings.Contains(got.Plan, want) {
			t.Errorf("the plan lacks %q:\n%s", want, got.Plan)
		}
	}
	if data, err := os.ReadFile(filepath.Join(dir, "cart.go")); err != nil || string(data) != "two\n" {
		t.Errorf("the plan has changed a file: %q, %v", data, err)
	}
	for body, want := range map[string]int{
		`{}`: http.StatusBadRequest, `{"seq": 1}`: http.StatusBadRequest, `{"seq": 9999}`: http.StatusBadRequest, ``: http.StatusBadRequest,
		fmt.Sprintf(`{"seq": %d}`, messages[1]+1): http.StatusBadRequest,
		`{"seq": 2, "force": true}`:               http.StatusBadRequest, // what a person has changed is kept
	} {
		if _, status := plan(body); status != want {
			t.Errorf("%s: %d", body, status)
		}
	}

	// Without what the files contained, the conversation alone can go back. A page that is read-only has no plan.
	if err := os.RemoveAll(filepath.Join(d.app.Home, "files")); err != nil {
		t.Fatal(err)
	}
	if got, status := plan(fmt.Sprintf(`{"seq": %d}`, messages[1])); status != http.StatusOK || got.Files || got.Plan == "" {
		t.Errorf("without contents: %d, %+v", status, got)
	}
	d.hosts = nil
	if _, status := plan(fmt.Sprintf(`{"seq": %d}`, messages[1])); status != http.StatusBadRequest {
		t.Errorf("of a page that is read-only: %d", status)
	}
}
