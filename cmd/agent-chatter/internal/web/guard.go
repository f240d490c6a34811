package web

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"
)

// A Guard decides which requests reach a handler.
type Guard struct {
	Token  string
	Origin string                 // the scheme of the server's addresses: http or https
	Known  func(host string) bool // whether a host, with its port, is an address of the server
	Help   string                 // what a user without the token can do
}

// Policy is the content security policy of every answer.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The bounds of a request.
const (
	maxBody    = 64 << 10 // bytes
	writeLimit = time.Minute
)

// Files returns the handler of the files of the page, which have no data of a session: no token is required, so that
// the browser can open an address.
func (g *Guard) Files(next http.Handler) http.Handler { return g.check(next, false) }

// Data returns the handler of everything else, which requires the token.
func (g *Guard) Data(next http.Handler) http.Handler { return g.check(next, true) }

func (g *Guard) check(next http.Handler, secret bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", Policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		switch {
		case !g.Known(r.Host):
			http.Error(w, "This server has no such address.", http.StatusMisdirectedRequest)
			return
		case !g.sameOrigin(r, secret):
			http.Error(w, "Another page sent the request.", http.StatusForbidden)
			return
		case secret && !g.hasToken(r):
			h.Set("WWW-Authenticate", "Bearer")
			http.Error(w, "The token is missing or wrong. "+g.Help, http.StatusUnauthorized)
			return
		}
		if secret {
			keep(r)
		}
		// A slow reader must not hold a connection; streams extend the time.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// sameOrigin reports whether a page of the server or the user sent a request. Only the user, or a page that the user
// leaves, opens a file of the page.
func (g *Guard) sameOrigin(r *http.Request, secret bool) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != g.Origin+"://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return !secret && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// hasToken compares in constant time.
func (g *Guard) hasToken(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.Token))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}
