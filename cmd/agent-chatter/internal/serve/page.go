package serve

import (
	"context"
	"net"
	"sync"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/home"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/api"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// A Page is the page of a command that runs, beside what else the command does.
type Page struct {
	app     *app.App
	server  *server
	pairing *pairing
	serving sync.WaitGroup
	err     error // is set when it has ended
}

// Start serves the page until ctx is done. An address of other hosts gets a certificate of our own; only devices that
// are paired are admitted there.
func Start(ctx context.Context, a *app.App, address string, hosts api.Hosts) (*Page, error) {
	cmd := &Command{Addr: address, Chat: true}
	if host, _, err := net.SplitHostPort(address); err == nil && !isLoopback(host) {
		cmd.TLSOwn = true
	}
	s, err := cmd.listen(a.Home)
	if err != nil {
		return nil, err
	}
	p := &Page{app: a, server: s, pairing: newPairing(a, s)}
	if err := cmd.checkHome(a, p.pairing); err != nil {
		s.Close()
		return nil, err
	}
	p.serving.Go(func() {
		defer s.Close()
		p.err = s.serve(ctx, api.New(a, hosts, ctx.Done()), p.pairing)
	})
	return p, nil
}

// Wait waits for the end of the page.
func (p *Page) Wait() error {
	p.serving.Wait()
	return p.err
}

// Announcement returns the address of a session's page, as TEAM/ID, or "" for the list. On an address of other hosts,
// it pairs a device, and a QR code of it follows.
func (p *Page) Announcement(session string) string {
	path := "/"
	if session != "" {
		path = "/s/" + session
	}
	if !p.server.tokenHere {
		return p.server.origin + path + "#token=" + p.server.token + "\n" + textThisMachine
	}
	address := p.pairing.address(devices.Grant{Role: web.RoleAnswer})
	text := pairText(string(web.RoleAnswer)) + "\n" + address + "\n" +
		drawCode(address, !p.app.NoColor, p.app.Theme() == home.ThemeLight)
	return text + authorityText(p.server.origin, p.server.authority.Fingerprint())
}

const textThisMachine = "Anyone on this machine who knows this address can take part. For a phone, type: " +
	"/serve ADDRESS:PORT, with the address of this machine."
