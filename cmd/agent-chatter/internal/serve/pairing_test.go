package serve

import (
	"bufio"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/projection"
)

// A paired is a server with what pairs devices, and a client without cookies.
type paired struct {
	*testing.T
	*pairing
	client *http.Client
}

// startPairing starts a server of a new home, after it was changed.
func startPairing(t *testing.T, cmd Command, change ...func(*server)) *paired {
	t.Helper()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := cmd.listen(a.Home)
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range change {
		change(s)
	}
	p := newPairing(a, s)
	run(t, a, s, p)
	transport := &http.Transport{}
	if s.authority != nil {
		root, err := x509.ParseCertificate(s.authority.DER())
		if err != nil {
			t.Fatal(err)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: x509.NewCertPool()}
		transport.TLSClientConfig.RootCAs.AddCert(root)
		transport.ForceAttemptHTTP2 = true
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &paired{t, p, &http.Client{Transport: transport}}
}

// send sends a request of the page with a cookie, unless that is nil, and headers in pairs.
func (p *paired) send(method, path, body string, cookie *http.Cookie, headers ...string) *http.Response {
	p.Helper()
	r, err := http.NewRequestWithContext(p.Context(), method, p.server.origin+path, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	r.Header.Set("Agent-Chatter", "1")
	r.Header.Set("Content-Type", "application/json")
	if cookie != nil {
		r.AddCookie(cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := p.client.Do(r)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { response.Body.Close() })
	return response
}

// take sends a code and returns the cookie that the answer sets.
func (p *paired) take(code, name string) (status int, cookie *http.Cookie) {
	p.Helper()
	response := p.send(http.MethodPost, "/api/pair", fmt.Sprintf(`{"code":%q,"name":%q}`, code, name), nil)
	for _, cookie = range response.Cookies() {
	}
	return response.StatusCode, cookie
}

// device pairs a device with a role.
func (p *paired) device(role web.Role) *http.Cookie {
	p.Helper()
	status, cookie := p.take(p.codes.New(devices.Grant{Role: role}), "a device")
	if status != http.StatusOK || cookie == nil {
		p.Fatalf("status %d, cookie %v", status, cookie)
	}
	return cookie
}

func (p *paired) status(method, path, body string, cookie *http.Cookie, headers ...string) int {
	p.Helper()
	return p.send(method, path, body, cookie, headers...).StatusCode
}

func TestDeviceIsPairedByACode(t *testing.T) {
	for name, cmd := range map[string]Command{
		"loopback": {Addr: "127.0.0.1:0"}, "TLS": {Addr: "127.0.0.1:0", TLSOwn: true},
	} {
		p := startPairing(t, cmd)
		address := p.address(devices.Grant{Role: web.RoleRead})
		before, code, _ := strings.Cut(address, "#pair=")
		if before != p.server.origin+"/" {
			t.Errorf("%s: %s", name, address)
		}
		status, cookie := p.take(code, "Ann's phone")
		if status != http.StatusOK || cookie == nil {
			t.Fatalf("%s: %d, %v", name, status, cookie)
		}
		if !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.Path != "/" || cookie.Domain != "" ||
			cookie.Secure != cmd.TLSOwn || strings.HasPrefix(cookie.Name, "__Host-") != cmd.TLSOwn ||
			!strings.HasSuffix(cookie.Name, "-"+p.server.port()) || cookie.MaxAge != cookieTime {
			t.Errorf("%s: the cookie is %s", name, cookie)
		}
		all, err := p.store.List()
		if err != nil || len(all) != 1 || all[0].Name != "Ann's phone" || all[0].Role != web.RoleRead {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		if got := p.status(http.MethodGet, "/api/sessions", "", cookie); got != http.StatusOK {
			t.Errorf("%s: the list: %d", name, got)
		}
		if status, cookie := p.take(code, "thief"); status != http.StatusForbidden || cookie != nil {
			t.Errorf("%s: the code again: %d, %v", name, status, cookie)
		}
		for _, code := range []string{"", "x", strings.Repeat("A", 12), strings.Repeat("A", 1000)} {
			if status, cookie := p.take(code, "thief"); status != http.StatusForbidden || cookie != nil {
				t.Errorf("%s: the code %.20q: %d, %v", name, code, status, cookie)
			}
		}
	}
}

// After too many wrong codes, no code is compared for a while, and the right one is void.
func TestGuessedCodes(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	code := p.codes.New(devices.Grant{Role: web.RoleAll})
	for range 10 {
		if status, _ := p.take("AAAAAAAAAAAA", "thief"); status != http.StatusForbidden {
			t.Errorf("a wrong code: %d", status)
		}
	}
	for range 2 {
		if status, cookie := p.take(code, "thief"); status != http.StatusTooManyRequests || cookie != nil {
			t.Errorf("the right one after too many: %d, %v", status, cookie)
		}
	}
}

func TestPairingIsForThePageOnly(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	code := p.codes.New(devices.Grant{Role: web.RoleAll})
	body := fmt.Sprintf(`{"code":%q,"name":"x"}`, code)
	for name, test := range map[string]struct {
		body    string
		headers []string
		want    int
	}{
		"a form of another page":  {body, []string{"Agent-Chatter", "", "Content-Type", "text/plain"}, 403},
		"a fetch of another page": {body, []string{"Origin", "http://evil.example"}, 403},
		"a page at another port":  {body, []string{"Sec-Fetch-Site", "same-site"}, 403},
		"another type":            {body, []string{"Content-Type", "text/plain"}, 400},
		"no JSON":                 {"code=" + code, nil, 400},
		"two objects":             {body + body, nil, 400},
		"an unknown field":        {strings.Replace(body, "name", "role", 1), nil, 400},
		"a long body":             {strings.Repeat(" ", 1<<20) + body, nil, 400},
	} {
		if got := p.status(http.MethodPost, "/api/pair", test.body, nil, test.headers...); got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		if got := p.status(method, "/api/pair", body, nil); got != http.StatusUnauthorized {
			t.Errorf("%s: %d", method, got)
		}
	}
	if all, err := p.store.List(); err != nil || len(all) > 0 {
		t.Errorf("%v, %v", all, err)
	}
	if status, _ := p.take(code, "x"); status != http.StatusOK {
		t.Errorf("the code after that: %d", status)
	}
}

// A browser that is paired again is one device.
func TestBrowserIsPairedAgain(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	first := p.device(web.RoleAll)
	response := p.send(http.MethodPost, "/api/pair", fmt.Sprintf(`{"code":%q,"name":"x"}`, p.codes.New(devices.Grant{Role: web.RoleRead})), first)
	if all, err := p.store.List(); err != nil || len(all) != 1 || all[0].Role != web.RoleRead {
		t.Errorf("%+v, %v", all, err)
	}
	if got := p.status(http.MethodGet, "/api/sessions", "", first); got != http.StatusUnauthorized {
		t.Errorf("the first cookie: %d", got)
	}
	if got := p.status(http.MethodGet, "/api/sessions", "", response.Cookies()[0]); got != http.StatusOK {
		t.Errorf("the second: %d", got)
	}
}

// A stolen token of a device does no more than its role permits, and no code for a device that may more.
func TestRolesOfDevices(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	const session = "/api/sessions/demo/01KAHAM61B9SDF4W7TZ3YPK2WD"
	for role, want := range map[web.Role]map[string]bool{ // what is permitted
		web.RoleRead:   {"list": true},
		web.RoleAnswer: {"list": true, "say": true},
		web.RoleAll: {"list": true, "say": true, "rename": true, "undo": true, "trash": true, "code": true,
			"devices": true, "revoke": true},
	} {
		cookie := p.device(role)
		for name, request := range map[string][2]string{
			"list": {"GET", "/api/sessions"}, "say": {"POST", session + "/say"}, "rename": {"POST", session + "/rename"},
			"trash": {"POST", session + "/trash"}, "undo": {"POST", "/api/undo"}, "code": {"POST", "/api/devices/code"},
			"devices": {"GET", "/api/devices"}, "revoke": {"POST", "/api/devices/k7qmz2ab/revoke"},
		} {
			response := p.send(request[0], request[1], `{"role":"all"}`, cookie)
			text, _ := io.ReadAll(response.Body)
			if refused := response.StatusCode == http.StatusForbidden; refused == want[name] {
				t.Errorf("%s with the role %s: %s, %s", name, role, response.Status, text)
			} else if refused && !strings.Contains(string(text), "the role "+string(role)) {
				t.Errorf("%s with the role %s: %s", name, role, text)
			}
		}
	}
}

// A device that is revoked by another process gets no event after that, and its stream ends.
func TestRevokedDeviceWithAnOpenStream(t *testing.T) {
	for name, cmd := range map[string]Command{
		"HTTP": {Addr: "127.0.0.1:0"}, "HTTP/2": {Addr: "127.0.0.1:0", TLSOwn: true},
	} {
		p := startPairing(t, cmd)
		apptest.CrashedSession(t, p.app.Home)
		log, err := journal.NewDir(filepath.Join(p.app.Home, "sessions", "review"), journal.Options{}).
			Open(t.Context(), apptest.AliceID)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		title := func(text string) {
			if _, err := log.Append(projection.Record(time.Now(), projection.SessionRenamed{Title: text})); err != nil {
				t.Fatal(err)
			}
		}
		revoked, other := p.device(web.RoleAll), p.device(web.RoleRead)
		streams := map[*http.Cookie]*bufio.Scanner{}
		for _, cookie := range []*http.Cookie{revoked, other} {
			response := p.send(http.MethodGet, "/api/stream?session=review/"+apptest.AliceID, "", cookie)
			streams[cookie] = bufio.NewScanner(response.Body)
			if line := nextEvent(streams[cookie]); !strings.Contains(line, `"seq"`) {
				t.Fatalf("%s: the stream begins with %q", name, line)
			}
		}
		title("before")
		for _, stream := range streams {
			if line := nextEvent(stream); line == "" {
				t.Errorf("%s: no event before", name)
			}
		}
		command := devices.Open(p.app.Home)
		all, err := command.List()
		if err != nil {
			t.Fatal(err)
		}
		if found, err := command.Revoke(t.Context(), all[0].ID); !found || err != nil {
			t.Fatalf("%t, %v", found, err)
		}
		title("after")
		if line := nextEvent(streams[revoked]); line != "" {
			t.Errorf("%s: after that, it gets %q", name, line)
		}
		if got := p.status(http.MethodGet, "/api/sessions", "", revoked); got != http.StatusUnauthorized {
			t.Errorf("%s: its next request: %d", name, got)
		}
		if line := nextEvent(streams[other]); line == "" {
			t.Errorf("%s: the stream of the other device has ended", name)
		}
	}
}

// nextEvent returns the next event of a stream; "": it has ended.
func nextEvent(stream *bufio.Scanner) string {
	for stream.Scan() {
		if event, ok := strings.CutPrefix(stream.Text(), "data: "); ok {
			return event
		}
	}
	return ""
}

func TestManyChangesAreRefused(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	cookie := p.device(web.RoleAll)
	refused := 0
	for range 3 * burst {
		if p.status(http.MethodPost, "/api/undo", `{"undo":1}`, cookie) == http.StatusTooManyRequests {
			refused++
		}
	}
	if refused == 0 || refused > 2*burst {
		t.Errorf("%d of %d changes were refused", refused, 3*burst)
	}
	if got := p.status(http.MethodGet, "/api/sessions", "", cookie); got != http.StatusOK {
		t.Errorf("reading after that: %d", got)
	}
}

func TestAuthorityIsOffered(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0", TLSOwn: true, Chat: true})
	response := p.send(http.MethodGet, "/ca", "", nil)
	der, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Type") != "application/x-x509-ca-cert" {
		t.Errorf("%v, %v", response.Header, err)
	}
	sum := sha256.Sum256(der)
	if got := strings.ReplaceAll(p.server.authority.Fingerprint(), ":", ""); !strings.EqualFold(got, fmt.Sprintf("%x", sum)) {
		t.Errorf("the fingerprint is %s", got)
	}
	if again := startPairing(t, Command{Addr: "127.0.0.1:0"}); again.status(http.MethodGet, "/ca", "", nil) != 404 {
		t.Error("a server without an authority offers one")
	}
}

// The token in the address does not let other machines run agents; that of a file lets them read, as the user wants.
func TestTokenIsForThisMachine(t *testing.T) {
	token := written(t, "token", secret, 0o600)
	cert, key := certificate(t, "chat.example")
	for name, test := range map[string]struct {
		cmd  Command
		here bool
	}{
		"loopback":         {Command{Addr: "127.0.0.1:0", Chat: true}, false},
		"chat":             {Command{Addr: ":0", Chat: true, TLSCert: cert, TLSKey: key}, true},
		"chat, token file": {Command{Addr: ":0", Chat: true, TLSCert: cert, TLSKey: key, TokenFile: token}, true},
		"pairing":          {Command{Addr: ":0", Pair: true, TLSCert: cert, TLSKey: key}, true},
		"token file":       {Command{Addr: ":0", TLSCert: cert, TLSKey: key, TokenFile: token}, false},
	} {
		s, err := test.cmd.listen(t.TempDir())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s.Close()
		if s.tokenHere != test.here {
			t.Errorf("%s: %t", name, s.tokenHere)
		}
	}
}
