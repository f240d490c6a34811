package serve

import (
	"net"
	"net/http"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// A deviceJSON is a paired device.
type deviceJSON struct {
	ID     string    `json:"id"`
	Name   string    `json:"name"`
	Role   web.Role  `json:"role"`
	Paired time.Time `json:"paired"`
	Seen   string    `json:"seen"`          // the last day
	Own    bool      `json:"own,omitempty"` // it is the one that asks
}

// devices sends the list of the paired devices, to clients with the role all.
func (p *pairing) devices(w http.ResponseWriter, r *http.Request) {
	if !web.Permit(w, r, web.RoleAll) {
		return
	}
	all, err := p.store.List()
	if err != nil {
		p.refuse(w, http.StatusInternalServerError, app.Explain(err))
		return
	}
	shown := []deviceJSON{}
	for _, d := range all {
		own := d.ID == web.CallerOf(r).ID
		shown = append(shown, deviceJSON{d.ID, tty.SafeLine(d.Name), d.Role, d.Paired, tty.SafeLine(d.Seen), own})
	}
	writeJSON(w, http.StatusOK, map[string]any{"devices": shown})
}

// revoke ends the access of a device.
func (p *pairing) revoke(w http.ResponseWriter, r *http.Request) {
	var body struct{}
	if err := readJSON(r, &body); err != nil {
		p.refuse(w, http.StatusBadRequest, app.Text("%s", app.Sentence(err)))
		return
	}
	id := r.PathValue("id")
	found, err := p.store.Revoke(r.Context(), id)
	switch {
	case err != nil:
		p.refuse(w, http.StatusInternalServerError, app.Explain(err))
	case !found:
		p.refuse(w, http.StatusNotFound, goneText(id))
	default:
		writeJSON(w, http.StatusOK, struct{}{})
	}
}

// newCode sends the address that pairs another device, with a new code, and its QR code. The device may do no more than
// the client.
func (p *pairing) newCode(w http.ResponseWriter, r *http.Request) {
	var wanted struct{ Role web.Role }
	if err := readJSON(r, &wanted); err != nil {
		p.refuse(w, http.StatusBadRequest, app.Text("%s", app.Sentence(err)))
		return
	}
	if !wanted.Role.Permits(web.RoleRead) {
		p.refuse(w, http.StatusBadRequest, app.Text(textRoles))
		return
	}
	if !web.Permit(w, r, wanted.Role) {
		return
	}
	address := p.address(devices.Grant{Role: wanted.Role, By: web.CallerOf(r).ID})
	writeJSON(w, http.StatusOK, map[string]any{
		"address": address, "role": wanted.Role, "seconds": int(devices.CodeTime.Seconds()), "qr": svgCode(address),
		"note": p.app.Render(p.reach()),
	})
}

// reach says what a device needs before it can open the address.
func (p *pairing) reach() app.Message {
	host, _, _ := net.SplitHostPort(p.server.Addr().String())
	switch {
	case p.server.authority != nil:
		return app.Text("%s", authorityText(p.server.origin, p.server.authority.Fingerprint()))
	case isLoopback(host):
		return tunnelText(p.server.port())
	}
	return app.Message{}
}

const textRoles = "The role is read, answer or all."

// tunnelText is for an address that only this machine reaches.
func tunnelText(port string) app.Message {
	return app.Text("Only this machine reaches the address. On another one, a tunnel leads to it, such as "+
		"ssh -L %s:127.0.0.1:%s HOST.", port, port).With(app.To("read about the ways", "guide", "devices"))
}

func goneText(id string) app.Message {
	return app.Text("No device has the id %s.", tty.SafeLine(id)).With(app.To("list the devices", "devices"))
}
