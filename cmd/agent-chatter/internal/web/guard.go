package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A Guard decides which requests reach a handler.
type Guard struct {
	Token  string
	Origin string                 // the scheme of the server's addresses: http or https
	Known  func(host string) bool // whether a host, with its port, is an address of the server
	Help   string                 // what a user without the token can do

	// Page is whether the clients are pages of the server. A request that changes something then needs the header
	// Agent-Chatter: 1, which a form of another page cannot have.
	Page bool
	// TokenHere is whether the token admits only clients on this machine.
	TokenHere bool
	// Cookie is the name of the cookie with the token of a paired device, which Device knows; "": none is admitted.
	Cookie string
	Device func(token string) (Caller, bool)
	// Rate bounds the changes of each caller; nil: they are not bounded.
	Rate *Rate
	// MaxBody returns how many bytes the body of a request may have; nil: maxBody.
	MaxBody func(r *http.Request) int64
}

// Policy is the content security policy of every answer.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"manifest-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// The bounds of a request.
const (
	maxBody    = 64 << 10 // bytes
	writeLimit = time.Minute
)

// header is the header of the requests of a page.
const header = "Agent-Chatter"

// A level is what a handler requires of a request.
type level int

const (
	files level = iota // the server's address, and no frame or form of another page
	open               // no other page has sent it, either
	data               // it has the token, too, or the cookie of a paired device
)

// Files returns the handler of the files of the page, which have no data of a session: no token is required, so that
// the browser can open an address.
func (g *Guard) Files(next http.Handler) http.Handler { return g.check(next, files) }

// Open returns the handler of the requests of a page of the server whose device need not be paired.
func (g *Guard) Open(next http.Handler) http.Handler { return g.check(next, open) }

// Data returns the handler of everything else, which requires the token or the cookie of a paired device. CallerOf
// returns which of them a request has. When a device is no longer paired, what is being sent to it ends.
func (g *Guard) Data(next http.Handler) http.Handler { return g.check(next, data) }

func (g *Guard) check(next http.Handler, required level) http.Handler {
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
			http.Error(w, textNoAddress, http.StatusMisdirectedRequest)
			return
		case !g.sameOrigin(r, required), required != files && g.Page && changes(r) && r.Header.Get(header) != "1":
			http.Error(w, textOtherPage, http.StatusForbidden)
			return
		}
		// A slow reader must not hold a connection; streams extend the time.
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(writeLimit))
		limit := int64(maxBody)
		if g.MaxBody != nil {
			limit = g.MaxBody(r)
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if required == data {
			g.admit(next, w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

const (
	textNoAddress = "This server has no such address."
	textOtherPage = "Another page sent the request."
)

// admit passes on a request with the token, or of a paired device.
func (g *Guard) admit(next http.Handler, w http.ResponseWriter, r *http.Request) {
	caller, still, ok := g.caller(r)
	if !ok {
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, noTokenText(g.Help), http.StatusUnauthorized)
		return
	}
	keep(r)
	if changes(r) && g.Rate != nil {
		if wait := g.Rate.take(caller.ID, time.Now()); wait > 0 {
			seconds := int(wait/time.Second) + 1
			w.Header().Set("Retry-After", strconv.Itoa(seconds))
			http.Error(w, rateText(seconds), http.StatusTooManyRequests)
			return
		}
	}
	r = WithCaller(r, caller)
	if still != nil {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		w, r = &revocable{w, still, cancel}, r.WithContext(ctx)
	}
	next.ServeHTTP(w, r)
}

func noTokenText(help string) string { return "The token is missing or wrong. " + help }

func rateText(seconds int) string {
	return fmt.Sprintf("This device changes too much at once. Try again in %d s.", seconds)
}

// caller returns who sent a request, if it is admitted. still reports whether that is so later; nil: it is.
func (g *Guard) caller(r *http.Request) (c Caller, still func() bool, ok bool) {
	if g.hasToken(r) {
		return Caller{Role: RoleAll}, nil, true
	}
	if g.Cookie == "" {
		return Caller{}, nil, false
	}
	for _, cookie := range r.CookiesNamed(g.Cookie) { // a program at another port can add some
		if c, ok = g.Device(cookie.Value); ok {
			return c, func() bool {
				now, ok := g.Device(cookie.Value)
				return ok && now.Role == c.Role
			}, true
		}
	}
	return Caller{}, nil, false
}

// A revocable is the answer to a device. It ends when the device is no longer paired: at the next write, so that
// nothing is sent to it after that.
type revocable struct {
	http.ResponseWriter
	paired func() bool
	cancel func() // of the request
}

// Write implements http.ResponseWriter.
func (w *revocable) Write(p []byte) (int, error) {
	if !w.paired() {
		w.cancel()
		return 0, errRevoked
	}
	return w.ResponseWriter.Write(p)
}

var errRevoked = errors.New("the device is no longer paired")

// Unwrap lets an http.ResponseController use the answer.
func (w *revocable) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// changes reports whether a request may change something.
func changes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

// sameOrigin reports whether a page of the server or the user sent a request. Only the user, or a page that the user
// leaves, opens a file of the page.
func (g *Guard) sameOrigin(r *http.Request, required level) bool {
	if origin := r.Header.Get("Origin"); origin != "" && origin != g.Origin+"://"+r.Host {
		return false
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return required == files && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// hasToken compares in constant time.
func (g *Guard) hasToken(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	got, want := sha256.Sum256([]byte(token)), sha256.Sum256([]byte(g.Token))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1 && (!g.TokenHere || isHere(r))
}

// isHere reports whether a client on this machine sent a request, as far as the connection tells: a tunnel or a proxy
// that ends here is on this machine. A client here that connects to another address of the machine has that address.
func isHere(r *http.Request) bool {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	ip := net.ParseIP(host)
	if err != nil || ip == nil {
		return false
	}
	own, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || ok && own.IP.Equal(ip)
}
