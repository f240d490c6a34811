package serve

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// cookieTime is for how many seconds a device stays paired.
const cookieTime = 365 * 24 * 60 * 60

// A pairing pairs devices with a server.
type pairing struct {
	app    *app.App
	store  *devices.Store
	codes  *devices.Codes
	server *server
}

func newPairing(a *app.App, s *server) *pairing {
	return &pairing{a, devices.Open(a.Home), devices.NewCodes(), s}
}

// address returns the address that pairs a device, which has a new code.
func (p *pairing) address(g devices.Grant) string {
	return p.server.origin + "/#pair=" + p.codes.New(g)
}

// device returns the paired device with a token.
func (p *pairing) device(token string) (web.Caller, bool) {
	d, ok := p.store.Find(token)
	return web.Caller{ID: d.ID, Device: d.Name, Role: d.Role}, ok
}

// pair pairs the device that sends a code. A browser that is paired already gets another token.
func (p *pairing) pair(w http.ResponseWriter, r *http.Request) {
	var wanted struct{ Code, Name string }
	if err := readJSON(r, &wanted); err != nil {
		p.refuse(w, http.StatusBadRequest, app.Text("%s", app.Sentence(err)))
		return
	}
	grant, err := p.codes.Take(wanted.Code)
	var d devices.Device
	var token string
	if err == nil {
		d, token, err = p.store.Add(r.Context(), wanted.Name, grant, p.pairedAs(r))
	}
	if err != nil {
		p.refusePairing(w, err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: p.server.cookie(), Value: token, Path: "/", MaxAge: cookieTime, HttpOnly: true,
		Secure: p.server.tls != nil, SameSite: http.SameSiteStrictMode,
	})
	p.app.Show(pairedText(d))
	writeJSON(w, http.StatusOK, map[string]string{"role": string(d.Role)})
}

// refusePairing sends the error of a code, or of a device that cannot be added.
func (p *pairing) refusePairing(w http.ResponseWriter, err error) {
	full := (*devices.FullError)(nil)
	switch {
	case errors.Is(err, devices.ErrTries):
		p.refuse(w, http.StatusTooManyRequests, app.Text(textMany))
	case errors.Is(err, devices.ErrCode):
		p.refuse(w, http.StatusForbidden, app.Text(textCode))
	case errors.As(err, &full):
		p.refuse(w, http.StatusConflict, fullText(full.Devices))
	default:
		p.refuse(w, http.StatusInternalServerError, app.Explain(err))
	}
}

// pairedAs returns the id of the device that the browser is already; "": of none.
func (p *pairing) pairedAs(r *http.Request) string {
	for _, cookie := range r.CookiesNamed(p.server.cookie()) {
		if d, ok := p.store.Find(cookie.Value); ok {
			return d.ID
		}
	}
	return ""
}

// readJSON reads the body of a request, one JSON object with these fields.
func readJSON(r *http.Request, to any) error {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		return errors.New("the body must be application/json")
	}
	in := json.NewDecoder(r.Body)
	in.DisallowUnknownFields()
	if err := in.Decode(to); err != nil {
		return errors.New("the body must be one JSON object with the fields of the request")
	}
	if _, err := in.Token(); err != io.EOF {
		return errors.New("the body must be one JSON object")
	}
	return nil
}

func (p *pairing) refuse(w http.ResponseWriter, status int, m app.Message) {
	writeJSON(w, status, map[string]string{"error": p.app.Render(m)})
}

func writeJSON(w http.ResponseWriter, status int, answer any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// codeTime is devices.CodeTime in words.
const codeTime = "2 minutes"

const (
	textCode = "The code is wrong, was used, or is older than " + codeTime + ". " + textNewCode
	textMany = "There were too many wrong codes. Wait for a minute. " + textNewCode
	// textNewCode is for a person at the device.
	textNewCode = "For another one, press Enter where agent-chatter serve --pair runs."
)

func fullText(n int) app.Message {
	return app.Text("%s are paired: no more can be.", app.Count(n, "device")).With(
		app.To("list them", "devices"), app.To("end the access of one", "devices", "revoke", "ID"))
}

func pairedText(d devices.Device) app.Message {
	return app.Text("Paired \"%s\" with the role %s.", tty.SafeLine(d.Name), d.Role).
		With(app.To("end its access", "devices", "revoke", d.ID))
}
