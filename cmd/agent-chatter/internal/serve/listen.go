package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/api"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/assets"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/authority"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// A server is a listener and what is needed to answer its requests.
type server struct {
	net.Listener
	tls       *tls.Config          // nil: HTTP
	authority *authority.Authority // of the certificate; nil: it is not of our own
	created   bool                 // the authority is new
	origin    string               // scheme, host and port
	token     string
	tokenHere bool            // the token admits clients on this machine only
	hosts     map[string]bool // without port, besides those of the certificate
	wait      time.Duration   // for a whole request
}

// listen begins to listen, if the address and the flags allow it. home is where an authority is kept.
func (cmd *Command) listen(home string) (*server, error) {
	host, _, err := net.SplitHostPort(cmd.Addr)
	if err != nil {
		return nil, app.UsageError("--addr takes HOST:PORT, such as 127.0.0.1:8080.")
	}
	if err := cmd.checkTLS(host); err != nil {
		return nil, err
	}
	s := &server{token: web.NewToken(), wait: requestTime}
	s.hosts = map[string]bool{"127.0.0.1": true, "localhost": true, "::1": true}
	if cmd.TokenFile != "" {
		if s.token, err = web.ReadToken(cmd.TokenFile); err != nil {
			return nil, err
		}
	}
	// A token in an address can be seen, and is the same for all: it does not let other machines run agents.
	s.tokenHere = !isLoopback(host) && (cmd.Chat || cmd.TokenFile == "")
	if err := cmd.setTLS(s, home, host); err != nil {
		return nil, err
	}
	if s.Listener, err = net.Listen("tcp", cmd.Addr); err != nil {
		return nil, app.Exit(app.ExitFailed, notListeningText(cmd.Addr, err))
	}
	_, port, _ := net.SplitHostPort(s.Addr().String())
	if isUnspecified(host) {
		host = s.certificateHost()
	}
	s.origin = "http://" + net.JoinHostPort(host, port)
	if s.tls != nil {
		s.origin = "https://" + net.JoinHostPort(host, port)
	}
	return s, nil
}

// checkTLS returns an error if the flags do not say how other hosts reach the address safely.
func (cmd *Command) checkTLS(host string) error {
	encrypted := cmd.TLSCert != "" || cmd.TLSOwn
	switch {
	case (cmd.TLSCert == "") != (cmd.TLSKey == ""):
		return app.UsageError("--tls-cert and --tls-key need each other.")
	case cmd.TLSCert != "" && cmd.TLSOwn:
		return app.UsageError("--tls-own makes a certificate; it excludes --tls-cert.")
	case isLoopback(host):
		return nil
	case !encrypted || !cmd.Chat && !cmd.Pair && cmd.TokenFile == "":
		return app.Exit(app.ExitUsage, reachableText(cmd.Addr))
	case cmd.TLSOwn && isUnspecified(host):
		return app.Exit(app.ExitUsage, noHostText(addresses()))
	}
	return nil
}

// setTLS sets the certificate, if there is to be one.
func (cmd *Command) setTLS(s *server, home, host string) (err error) {
	s.tls = &tls.Config{MinVersion: tls.VersionTLS12}
	switch {
	case cmd.TLSCert != "":
		certificate, err := tls.LoadX509KeyPair(cmd.TLSCert, cmd.TLSKey)
		if err != nil {
			return app.UsageError("The certificate cannot be used: %s", app.Sentence(err))
		}
		s.tls.Certificates = []tls.Certificate{certificate}
	case cmd.TLSOwn:
		s.authority, s.created, err = authority.Open(home, host)
		if refused := (*authority.HostError)(nil); errors.As(err, &refused) {
			return app.Exit(app.ExitUsage, noHostText(addresses()))
		}
		if shared := (*authority.SharedError)(nil); errors.As(err, &shared) {
			return app.Exit(app.ExitFailed, sharedKeyText(shared.Path))
		}
		if err != nil {
			return err
		}
		s.hosts[strings.ToLower(host)] = true
		s.tls.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return s.authority.Certificate() }
	default:
		s.tls = nil
	}
	return nil
}

// addresses returns the addresses by which other hosts may reach this one.
func addresses() (found []string) {
	all, _ := net.InterfaceAddrs() // the message names none without
	for _, address := range all {
		if n, ok := address.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
			found = append(found, n.IP.String())
		}
	}
	return found
}

// certificateHost returns a host that the certificate names, for an address that has none.
func (s *server) certificateHost() string {
	leaf := s.leaf()
	switch {
	case leaf != nil && len(leaf.DNSNames) > 0:
		return leaf.DNSNames[0]
	case leaf != nil && len(leaf.IPAddresses) > 0:
		return leaf.IPAddresses[0].String()
	}
	return "localhost"
}

// leaf returns the certificate that the server was given; nil: it has none.
func (s *server) leaf() *x509.Certificate {
	if s.tls == nil || len(s.tls.Certificates) == 0 {
		return nil
	}
	return s.tls.Certificates[0].Leaf
}

// knows reports whether a host, with its port, is an address of the server.
func (s *server) knows(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	if err != nil { // the default port
		host, port = strings.Trim(hostport, "[]"), map[bool]string{false: "80", true: "443"}[s.tls != nil]
	}
	if port != s.port() {
		return false
	}
	leaf := s.leaf()
	return s.hosts[host] || leaf != nil && leaf.VerifyHostname(host) == nil
}

func (s *server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr().String())
	return port
}

// cookie returns the name of the cookie of a paired device. Browsers send cookies to all ports of a host. Those with
// the prefix __Host- are set over TLS only, and by this host alone.
func (s *server) cookie() string {
	if s.tls != nil {
		return "__Host-agent-chatter-" + s.port()
	}
	return "agent-chatter-" + s.port()
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// isUnspecified reports whether a host stands for all addresses of this one.
func isUnspecified(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}

// serve answers requests until ctx is done.
func (s *server) serve(ctx context.Context, d *api.Server, p *pairing) error {
	g := &web.Guard{
		Token: s.token, Origin: strings.SplitN(s.origin, ":", 2)[0], Known: s.knows,
		Help: textHelp,
		Page: true, Rate: &web.Rate{Burst: burst, Every: changeTime}, MaxBody: api.MaxBody,
		TokenHere: s.tokenHere, Cookie: s.cookie(), Device: p.device,
	}
	if s.tokenHere {
		g.Help = textPairedOnly
	}
	mux := http.NewServeMux()
	mux.Handle("/", g.Files(assets.Handler()))
	mux.Handle("/api/", g.Data(api.Permitted(d.Handler())))
	mux.Handle("POST /api/pair", g.Open(http.HandlerFunc(p.pair)))
	mux.Handle("GET /api/devices", g.Data(http.HandlerFunc(p.devices)))
	mux.Handle("POST /api/devices/{id}/revoke", g.Data(api.Permitted(http.HandlerFunc(p.revoke))))
	mux.Handle("POST /api/devices/code", g.Data(api.Permitted(http.HandlerFunc(p.newCode))))
	if s.authority != nil {
		mux.Handle("/ca", g.Files(http.HandlerFunc(s.sendAuthority)))
	}
	h := &http.Server{
		Handler: mux, TLSConfig: s.tls, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: s.wait, ReadTimeout: s.wait, IdleTimeout: idleTime,
	}
	return web.Serve(ctx, h, s.Listener)
}

// sendAuthority sends the certificate that a device has to trust. Phones offer to install it because of its type.
func (s *server) sendAuthority(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/x-x509-ca-cert")
	w.Header().Set("Content-Disposition", `inline; filename="agent-chatter.crt"`)
	_, _ = w.Write(s.authority.DER())
}

// notListeningText is for an address on which this machine cannot listen.
func notListeningText(addr string, err error) app.Message {
	return app.Text("The page cannot be on %s: %s.", tty.SafeLine(addr), strings.TrimSuffix(app.Reason(err), ".")).
		With(app.To("use a free port of this machine", "serve", "--addr", "127.0.0.1:0"))
}
