package api

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// TestPermits sends each kind of request with each role.
func TestPermits(t *testing.T) {
	session := "/api/sessions/shop/" + sessionID(1)
	handler := Permitted(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for request, needed := range map[string]web.Role{
		"GET " + session: web.RoleRead, "HEAD " + session: web.RoleRead, "GET /api/stream": web.RoleRead,
		"GET " + session + "/export": web.RoleRead,
		"POST " + session + "/say":   web.RoleAnswer, "POST " + session + "/answer": web.RoleAnswer,
		"POST " + session + "/cancel": web.RoleAnswer, "POST " + session + "/takeback": web.RoleAnswer,
		"POST " + session + "/continue": web.RoleAnswer,
		"POST " + session + "/rename":   web.RoleAll, "POST " + session + "/fork": web.RoleAll,
		"POST " + session + "/rewind": web.RoleAll,
		"POST " + session + "/trash":  web.RoleAll, "POST " + session + "/fetch": web.RoleAll,
		"POST /api/undo": web.RoleAll, "POST /api/conversations": web.RoleAll, "POST /api/devices/code": web.RoleAll,
		"POST //api/sessions/shop/x/say": web.RoleAnswer, // it is redirected
		// What is not exactly such a request is another change.
		"PUT " + session + "/say": web.RoleAll, "DELETE " + session: web.RoleAll, "POST " + session + "/say/": web.RoleAll,
		"POST " + session + "/say/x": web.RoleAll, "POST /api/sessions/shop/../x/say": web.RoleAll,
		"POST " + session + "/rename?x=/say": web.RoleAll,
		"POST " + session + "/x%2fsay":       web.RoleAll, "POST " + session + "/Say": web.RoleAll,
	} {
		method, path, _ := strings.Cut(request, " ")
		for _, role := range append([]web.Role{"", "other"}, web.Roles...) {
			w := httptest.NewRecorder()
			r := httptest.NewRequestWithContext(t.Context(), method, path, nil)
			handler.ServeHTTP(w, web.WithCaller(r, web.Caller{Role: role}))
			if got := w.Code == http.StatusOK; got != role.Permits(needed) {
				t.Errorf("%s with the role %q: %d", request, role, w.Code)
			}
		}
	}
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, session, nil))
	if w.Code != http.StatusForbidden {
		t.Errorf("no guard has admitted the client: %d", w.Code)
	}
}

// Only messages with files are long, and of clients that may send them.
func TestBodies(t *testing.T) {
	for path, want := range map[string]int64{
		"/api/sessions/shop/x/say": maxFiles, "/api/sessions/shop/x/answer": maxBody,
		"/api/sessions/shop/x/rename": maxBody, "/api/pair": maxBody, "/": maxBody,
	} {
		if got := MaxBody(httptest.NewRequestWithContext(t.Context(), http.MethodPost, path, nil)); got != want {
			t.Errorf("%s: %d bytes", path, got)
		}
	}
}
