package web

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

const cookie = "agent-chatter-8080"

// pairedGuard returns a Guard that knows the devices phone and tablet by these tokens, and the handler of a page.
func pairedGuard(devices map[string]Caller, next http.HandlerFunc) (*Guard, http.Handler) {
	g := &Guard{
		Token: token, Origin: "http", Known: func(host string) bool { return host == "127.0.0.1:8080" },
		Page: true, Cookie: cookie,
		Device: func(token string) (Caller, bool) {
			c, ok := devices[token]
			return c, ok
		},
	}
	return g, g.Data(next)
}

// request returns a request with headers, in pairs.
func request(method string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, "/", nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8080", "127.0.0.1:50000"
	for i := 0; i < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestDevicesAreAdmittedByTheirCookies(t *testing.T) {
	devices := map[string]Caller{"p": {"1", "Phone", RoleAnswer}, "t": {"2", "Tablet", RoleRead}}
	_, page := pairedGuard(devices, func(w http.ResponseWriter, r *http.Request) {
		c := CallerOf(r)
		io.WriteString(w, c.ID+" "+c.Device+" "+string(c.Role))
	})
	for _, test := range []struct {
		name    string
		headers []string
		want    string // "": 401
	}{
		{"the token", []string{"Authorization", "Bearer " + token}, "  all"},
		{"a cookie", []string{"Cookie", cookie + "=p"}, "1 Phone answer"},
		{"another cookie", []string{"Cookie", cookie + "=t"}, "2 Tablet read"},
		{"a cookie and a wrong token", []string{"Cookie", cookie + "=t", "Authorization", "Bearer x"}, "2 Tablet read"},
		{"a cookie and the token", []string{"Cookie", cookie + "=t", "Authorization", "Bearer " + token}, "  all"},
		{"two cookies, the first of a program at another port", []string{"Cookie", cookie + "=x; " + cookie + "=p"},
			"1 Phone answer"},
		{"a cookie of another port", []string{"Cookie", "agent-chatter-8081=p"}, ""},
		{"a wrong cookie", []string{"Cookie", cookie + "=x"}, ""},
		{"an empty cookie", []string{"Cookie", cookie + "="}, ""},
		{"the token in a cookie", []string{"Cookie", cookie + "=" + token}, ""},
		{"the token of a device as that of the server", []string{"Authorization", "Bearer p"}, ""},
	} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, request(http.MethodGet, test.headers...))
		if got := w.Body.String(); test.want != "" && got != test.want || (w.Code == 401) != (test.want == "") {
			t.Errorf("%s: %d, %q", test.name, w.Code, got)
		}
	}
}

// Another page makes the browser send the cookie, but cannot send the header, or is named by headers of the browser.
func TestOtherPagesCannotUseTheCookie(t *testing.T) {
	_, page := pairedGuard(map[string]Caller{"p": {"1", "Phone", RoleAll}}, func(http.ResponseWriter, *http.Request) {})
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for _, test := range []struct {
		name, method string
		headers      []string
		want         int
	}{
		{"the page", "POST", []string{"Origin", "http://127.0.0.1:8080", "Sec-Fetch-Site", "same-origin", header, "1"}, 200},
		{"the page, old browser", "POST", []string{header, "1"}, 200},
		{"a form", "POST", append(form, "Origin", "http://evil.example", "Sec-Fetch-Site", "cross-site"), 403},
		{"a form, old browser", "POST", form, 403},
		{"a form without an origin", "POST", append(form, "Origin", "null"), 403},
		{"a form of another port", "POST", append(form, "Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"), 403},
		{"a beacon", "POST", []string{"Content-Type", "text/plain", "Origin", "http://evil.example"}, 403},
		{"fetch", "POST", []string{"Origin", "http://evil.example", "Sec-Fetch-Mode", "cors", header, "1"}, 403},
		{"a preflight", "OPTIONS", []string{"Origin", "http://evil.example", "Access-Control-Request-Headers", header}, 403},
		{"a preflight, no origin", "OPTIONS", nil, 403},
		{"another value", "POST", []string{header, "2"}, 403},
		{"DELETE", "DELETE", nil, 403},
		{"reading", "GET", []string{"Sec-Fetch-Site", "same-origin"}, 200},
		{"EventSource of another port", "GET", []string{"Origin", "http://127.0.0.1:3000", "Sec-Fetch-Site", "same-site"}, 403},
		{"an image of another port", "GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"WebSocket", "GET", []string{"Origin", "http://evil.example", "Upgrade", "websocket"}, 403},
		{"a frame", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Dest", "iframe"}, 403},
		{"a link", "GET", []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate"}, 403},
	} {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, request(test.method, append([]string{"Cookie", cookie + "=p"}, test.headers...)...))
		if w.Code != test.want {
			t.Errorf("%s: %d, want %d", test.name, w.Code, test.want)
		}
	}
	r := request(http.MethodPost, "Cookie", cookie+"=p", header, "1")
	r.Host = "evil.example:8080" // its name leads here
	w := httptest.NewRecorder()
	if page.ServeHTTP(w, r); w.Code != http.StatusMisdirectedRequest {
		t.Errorf("DNS rebinding: %d", w.Code)
	}
}

// What Open guards needs no token, and is as closed to other pages.
func TestOpenNeedsNoToken(t *testing.T) {
	g, _ := pairedGuard(nil, nil)
	handler := g.Open(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, test := range []struct {
		headers []string
		want    int
	}{
		{[]string{header, "1"}, 200},
		{nil, 403},
		{[]string{header, "1", "Origin", "http://evil.example"}, 403},
		{[]string{header, "1", "Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}, 403},
	} {
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, request(http.MethodPost, test.headers...)); w.Code != test.want {
			t.Errorf("%q: %d", test.headers, w.Code)
		}
	}
}

func TestTokenOfThisMachine(t *testing.T) {
	g, page := pairedGuard(map[string]Caller{"p": {"1", "Phone", RoleRead}}, func(http.ResponseWriter, *http.Request) {})
	g.TokenHere = true
	for from, want := range map[string]int{
		"127.0.0.1:1": 200, "127.0.0.9:1": 200, "[::1]:1": 200, "[::ffff:127.0.0.1]:1": 200,
		"192.0.2.7:1": 200, // the address to which it connects
		"192.0.2.1:1": 401, "[2001:db8::1]:1": 401, "": 401, "127.0.0.1": 401,
	} {
		r := request(http.MethodGet, "Authorization", "Bearer "+token)
		r.RemoteAddr = from
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey,
			&net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 8080}))
		w := httptest.NewRecorder()
		if page.ServeHTTP(w, r); w.Code != want {
			t.Errorf("the token from %q: %d", from, w.Code)
		}
		r.Header.Set("Cookie", cookie+"=p")
		w = httptest.NewRecorder()
		if page.ServeHTTP(w, r); w.Code != 200 {
			t.Errorf("a device at %q: %d", from, w.Code)
		}
	}
}

// A device that is revoked gets nothing after that, not even what is being sent.
func TestRevocationEndsAnAnswer(t *testing.T) {
	for name, now := range map[string]map[string]Caller{
		"revoked": {}, "paired with another role": {"p": {"1", "Phone", RoleRead}},
	} {
		devices := map[string]Caller{"p": {"1", "Phone", RoleAll}}
		var ended bool
		g, _ := pairedGuard(nil, nil)
		g.Device = func(token string) (Caller, bool) {
			c, ok := devices[token]
			return c, ok
		}
		page := g.Data(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.WriteString(w, "before"); err != nil || http.NewResponseController(w).Flush() != nil {
				t.Errorf("%s: %v", name, err)
			}
			devices = now
			if n, err := io.WriteString(w, "after"); n != 0 || err == nil {
				t.Errorf("%s: %d bytes were sent, %v", name, n, err)
			}
			ended = r.Context().Err() != nil
		}))
		w := httptest.NewRecorder()
		page.ServeHTTP(w, request(http.MethodGet, "Cookie", cookie+"=p"))
		if w.Body.String() != "before" || !ended {
			t.Errorf("%s: %q, the request has ended: %t", name, w.Body, ended)
		}
	}
}

func TestRolesIncludeTheOnesBefore(t *testing.T) {
	for i, has := range Roles {
		for j, needed := range Roles {
			if has.Permits(needed) != (i >= j) {
				t.Errorf("%s permits %s: %t", has, needed, i < j)
			}
		}
	}
	for _, odd := range []Role{"", "All", "all ", "admin"} {
		if odd.Permits("") || odd.Permits(RoleRead) {
			t.Errorf("%q permits something", odd)
		}
	}
}

func TestRate(t *testing.T) {
	r := &Rate{Burst: 3, Every: time.Second}
	start := time.Unix(1e9, 0)
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * float64(time.Second))) }
	for i, test := range []struct {
		caller string
		now    float64
		wait   float64
	}{
		{"a", 0, 0}, {"a", 0, 0}, {"a", 0, 0}, {"a", 0, 1}, {"a", 0.5, 0.5},
		{"b", 0.5, 0}, // each has its own
		{"a", 1, 0}, {"a", 1, 1}, {"a", 2.5, 0}, {"a", 2.5, 0.5},
		{"a", 100, 0}, {"a", 100, 0}, {"a", 100, 0}, {"a", 100, 1}, // no more than that after a pause
	} {
		if wait := r.take(test.caller, at(test.now)); wait != at(test.wait).Sub(start) {
			t.Errorf("%d: %s waits %s", i, test.caller, wait)
		}
	}
	for i := range 10 * maxCallers {
		r.take(strings.Repeat("x", i), at(200+float64(i)))
	}
	if len(r.spent) > maxCallers+1 {
		t.Errorf("it remembers %d callers", len(r.spent))
	}
}

func TestChangesAreRationed(t *testing.T) {
	g, page := pairedGuard(map[string]Caller{"p": {"1", "Phone", RoleAll}}, func(http.ResponseWriter, *http.Request) {})
	g.Rate = &Rate{Burst: 5, Every: time.Hour}
	status := func(method string, headers ...string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		page.ServeHTTP(w, request(method, append(headers, header, "1")...))
		return w
	}
	for i := range 7 {
		if got, want := status("POST", "Cookie", cookie+"=p").Code, map[bool]int{true: 200, false: 429}[i < 5]; got != want {
			t.Errorf("change %d: %d", i, got)
		}
	}
	w := status("POST", "Cookie", cookie+"=p")
	if w.Header().Get("Retry-After") != "3600" || !strings.Contains(w.Body.String(), "3600 s") {
		t.Errorf("%v, %s", w.Header(), w.Body)
	}
	if got := status("GET", "Cookie", cookie+"=p").Code; got != 200 {
		t.Errorf("reading: %d", got)
	}
	if got := status("POST", "Authorization", "Bearer "+token).Code; got != 200 {
		t.Errorf("another client: %d", got)
	}
}
