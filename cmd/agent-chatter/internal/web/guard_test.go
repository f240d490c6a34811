package web

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

const token = "0123456789abcdefghij"

// newHandlers returns the handlers of files and of data, which answer with the length of the body.
func newHandlers() (files, data http.Handler) {
	g := &Guard{Token: token, Origin: "http", Known: func(host string) bool { return host == "127.0.0.1:8080" }}
	next := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); errors.As(err, new(*http.MaxBytesError)) {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}
	})
	return g.Files(next), g.Data(next)
}

func TestGuard(t *testing.T) {
	bearer := func(token string) http.Header { return http.Header{"Authorization": {"Bearer " + token}} }
	with := func(h http.Header, fields ...string) http.Header {
		h = h.Clone()
		for i := 0; i < len(fields); i += 2 {
			h.Set(fields[i], fields[i+1])
		}
		return h
	}
	navigation := []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	for _, test := range []struct {
		name        string
		host        string // "": the server's
		header      http.Header
		files, data int // status
	}{
		{"with the token", "", bearer(token), 200, 200},
		{"from the page", "", with(bearer(token), "Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-origin"),
			200, 200},
		{"from the user", "", with(bearer(token), "Sec-Fetch-Site", "none"), 200, 200},
		{"without a token", "", http.Header{}, 200, 401},
		{"with another token", "", bearer("other"), 200, 401},
		{"with an empty token", "", bearer(""), 200, 401},
		{"with a longer token", "", bearer(token + "x"), 200, 401},
		{"with the start of the token", "", bearer(token[:5]), 200, 401},
		{"with the token alone", "", http.Header{"Authorization": {token}}, 200, 401},
		{"with a cookie", "", http.Header{"Cookie": {"token=" + token}}, 200, 401},
		{"for another host", "evil.example:8080", bearer(token), 421, 421},
		{"for another port", "127.0.0.1:80", bearer(token), 421, 421},
		{"for a host without a port", "127.0.0.1", bearer(token), 421, 421},
		{"from another origin", "", with(bearer(token), "Origin", "http://evil.example"), 403, 403},
		{"from another port", "", with(bearer(token), "Origin", "http://127.0.0.1:8081"), 403, 403},
		{"from another scheme", "", with(bearer(token), "Origin", "https://127.0.0.1:8080"), 403, 403},
		{"from a file", "", with(bearer(token), "Origin", "null"), 403, 403},
		{"from another site", "", with(bearer(token), "Sec-Fetch-Site", "cross-site"), 403, 403},
		{"from the same site", "", with(bearer(token), "Sec-Fetch-Site", "same-site"), 403, 403},
		{"by a link on another page", "", with(bearer(token), navigation...), 200, 403},
		{"in a frame", "", with(with(bearer(token), navigation...), "Sec-Fetch-Dest", "iframe"), 403, 403},
		{"as a script of another page", "", with(with(bearer(token), navigation...), "Sec-Fetch-Mode", "no-cors"), 403, 403},
	} {
		files, data := newHandlers()
		for of, handler := range map[*int]http.Handler{&test.files: files, &test.data: data} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host, r.Header = "127.0.0.1:8080", test.header
			if test.host != "" {
				r.Host = test.host
			}
			handler.ServeHTTP(w, r)
			if w.Code != *of {
				t.Errorf("%s: %d, want %d", test.name, w.Code, *of)
			}
			for name, value := range map[string]string{
				"Content-Security-Policy": Policy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
				"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
				"Cache-Control": "no-store", "Access-Control-Allow-Origin": "",
			} {
				if got := w.Header().Get(name); got != value {
					t.Errorf("%s: %s: %q", test.name, name, got)
				}
			}
		}
	}
}

func TestALinkDoesNotChangeAnything(t *testing.T) {
	files, _ := newHandlers()
	r := httptest.NewRequest(http.MethodPost, "/", nil)
	r.Host = "127.0.0.1:8080"
	r.Header = http.Header{
		"Sec-Fetch-Site": {"cross-site"}, "Sec-Fetch-Mode": {"navigate"}, "Sec-Fetch-Dest": {"document"},
	}
	w := httptest.NewRecorder()
	if files.ServeHTTP(w, r); w.Code != http.StatusForbidden {
		t.Errorf("a form of another page: %d", w.Code)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	_, data := newHandlers()
	for size, want := range map[int]int{maxBody: http.StatusOK, maxBody + 1: http.StatusRequestEntityTooLarge} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("a", size)))
		r.Host = "127.0.0.1:8080"
		r.Header.Set("Authorization", "Bearer "+token)
		w := httptest.NewRecorder()
		if data.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%d bytes: %d", size, w.Code)
		}
	}
}
