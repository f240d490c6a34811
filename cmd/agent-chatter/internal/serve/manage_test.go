package serve

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

func TestClientMakesACode(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	response := p.send(http.MethodPost, "/api/devices/code", `{"role":"answer"}`, nil, "Authorization", "Bearer "+p.server.token)
	text, _ := io.ReadAll(response.Body)
	_, code, _ := strings.Cut(string(text), "#pair=")
	code, _, _ = strings.Cut(code, `"`)
	if status, _ := p.take(code, "x"); status != http.StatusOK {
		t.Errorf("%s: %d", text, status)
	}
	if all, err := p.store.List(); err != nil || len(all) != 1 || all[0].Role != web.RoleAnswer {
		t.Errorf("%+v, %v", all, err)
	}
	for _, body := range []string{`{"role":"root"}`, `{}`, `[]`, ``} {
		got := p.status(http.MethodPost, "/api/devices/code", body, nil, "Authorization", "Bearer "+p.server.token)
		if got != http.StatusBadRequest {
			t.Errorf("%q: %d", body, got)
		}
	}
}

// A device lists the others and itself, and revokes them: the revoked one has no access from then on.
func TestDevicesAreManaged(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	own := p.device(web.RoleAll)
	_, other := p.take(p.codes.New(devices.Grant{Role: web.RoleRead}), "Ann's phone \u202e")
	list := func() (all []deviceJSON) {
		t.Helper()
		response := p.send(http.MethodGet, "/api/devices", "", own)
		text, _ := io.ReadAll(response.Body)
		if r, found := apptest.Acting(string(text)); found || strings.Contains(strings.ToLower(string(text)), "sha256") {
			t.Errorf("%U: %s", r, text)
		}
		var answer struct{ Devices []deviceJSON }
		if err := json.Unmarshal(text, &answer); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return answer.Devices
	}
	all := list()
	if len(all) != 2 || !all[0].Own || all[1].Own || all[1].Role != web.RoleRead || all[1].Seen == "" ||
		!strings.HasPrefix(all[1].Name, "Ann's phone") {
		t.Fatalf("%+v", all)
	}
	revoke := func(id string) int { return p.status(http.MethodPost, "/api/devices/"+id+"/revoke", "{}", own) }
	for id, want := range map[string]int{"k7qmz2ab": 404, "Ann's%20phone": 404, all[1].ID: 200} {
		if got := revoke(id); got != want {
			t.Errorf("revoking %s: %d, want %d", id, got, want)
		}
	}
	if got := p.status(http.MethodGet, "/api/sessions", "", other); got != http.StatusUnauthorized {
		t.Errorf("the revoked device: %d", got)
	}
	if all := list(); len(all) != 1 || !all[0].Own {
		t.Errorf("after that: %+v", all)
	}
	if got := revoke(all[0].ID); got != http.StatusOK {
		t.Errorf("revoking itself: %d", got)
	}
	if got := p.status(http.MethodGet, "/api/devices", "", own); got != http.StatusUnauthorized {
		t.Errorf("the device that revoked itself: %d", got)
	}
}

// A device cannot come back with a code that it asked for before it was revoked.
func TestCodeOfARevokedDevice(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"})
	own := p.device(web.RoleAll)
	code := func() string {
		t.Helper()
		text, _ := io.ReadAll(p.send(http.MethodPost, "/api/devices/code", `{"role":"all"}`, own).Body)
		_, code, _ := strings.Cut(string(text), "#pair=")
		code, _, _ = strings.Cut(code, `"`)
		return code
	}
	if status, _ := p.take(code(), "another"); status != http.StatusOK {
		t.Fatalf("before: %d", status)
	}
	kept := code()
	all, err := p.store.List()
	if err != nil || len(all) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	if _, err := devices.Open(p.app.Home).Revoke(t.Context(), all[0].ID); err != nil { // in another process
		t.Fatal(err)
	}
	if status, cookie := p.take(kept, "back"); status != http.StatusForbidden || cookie != nil {
		t.Errorf("after: %d", status)
	}
}

// The answer says what a device needs before it can open the address.
func TestCodesSayHowToReachThePage(t *testing.T) {
	for want, cmd := range map[string]Command{
		"ssh -L": {Addr: "127.0.0.1:0"}, "fingerprint": {Addr: "127.0.0.1:0", TLSOwn: true},
	} {
		p := startPairing(t, cmd)
		response := p.send(http.MethodPost, "/api/devices/code", `{"role":"read"}`, p.device(web.RoleAll))
		var answer struct{ Address, QR, Note string }
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(answer.Address, p.server.origin+"/#pair=") || !strings.HasPrefix(answer.QR, "<svg ") ||
			!strings.Contains(answer.Note, want) {
			t.Errorf("%+v: %+v", cmd, answer)
		}
	}
}
