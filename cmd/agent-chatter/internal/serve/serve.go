package serve

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/chat"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/api"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/assets"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// Command serves a page with the sessions until a signal ends it.
type Command struct {
	ID        string   `arg:"" optional:"" help:"The session to open: id, ID#N, title or latest (default: the list)."`
	Addr      string   `help:"Address to listen on; port 0 is any free one." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
	Chat      bool     `help:"Host conversations: the page sends messages and answers."`
	Allow     []string `help:"With --chat: conversations may work in this directory; may be repeated (default: the current one)." placeholder:"DIR"`
	Open      bool     `help:"Open the page in the web browser."`
	TokenFile string   `help:"File with the token of the page (default: a new random one)." placeholder:"PATH"`
	TLSCert   string   `name:"tls-cert" help:"File with the certificates; needed for addresses of other hosts." placeholder:"PATH"`
	TLSKey    string   `name:"tls-key" help:"File with the private key of the certificate." placeholder:"PATH"`
	Output    string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter serve --open
  agent-chatter serve latest
  agent-chatter serve --addr :8443 --tls-cert cert.pem --tls-key key.pem --token-file token`
}

// The bounds of the server.
const (
	maxHeader   = 16 << 10 // bytes
	requestTime = 10 * time.Second
	idleTime    = time.Minute
	changeTime  = time.Second // between two changes of a client
	burst       = 20          // of these at once
)

// Run implements the command.
func (cmd *Command) Run(a *app.App) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	path, fragment, err := cmd.place(ctx, a)
	if err != nil {
		return err
	}
	s, err := cmd.listen()
	if err != nil {
		return err
	}
	defer s.Close()
	address := s.origin + path + "#token=" + s.token + fragment
	if err := cmd.announce(a, s, address); err != nil {
		return err
	}
	if cmd.Open {
		file, err := web.NewOpenFile(address)
		if err != nil {
			return err
		}
		defer file.Remove()
		go func() {
			if err := file.Open(); err != nil && ctx.Err() == nil {
				a.Notice(notOpenedText(err))
			}
		}()
	}
	var hosts api.Hosts
	if cmd.Chat {
		directories := cmd.Allow
		if len(directories) == 0 {
			directories = []string{a.Cwd}
		}
		h, err := chat.NewHost(ctx, a, directories)
		if err != nil {
			return err
		}
		defer h.Close()
		hosts = h
	}
	d := api.New(a, hosts, ctx.Done())
	go a.Remote.Watch(ctx, a.Catalog, d.TakeElsewhere)
	return s.serve(ctx, d)
}

// place returns the path of a session or of the list, and what the fragment of the address has besides the token.
func (cmd *Command) place(ctx context.Context, a *app.App) (path, fragment string, err error) {
	if cmd.ID == "" {
		return "/", "", nil
	}
	name, event, err := a.CutEvent(ctx, cmd.ID, "", "")
	if err != nil {
		return "", "", err
	}
	s, err := a.Find(ctx, name)
	if err != nil {
		return "", "", err
	}
	if event != "" {
		fragment = "&seq-" + event
	}
	return "/s/" + url.PathEscape(filepath.Base(s.Dir())) + "/" + s.ID, fragment, nil
}

// announce prints the address of the page.
func (cmd *Command) announce(a *app.App, s *server, address string) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, map[string]string{"address": address, "origin": s.origin, "token": s.token})
	}
	_, err := fmt.Fprintln(a.Stdout, address)
	if err == nil {
		a.Notice("Whoever knows this address can read all sessions. Press Ctrl+C to end.")
	}
	return err
}

func notOpenedText(err error) string {
	return "No web browser was opened: " + app.Reason(err) + "\nOpen the address above."
}

// A server is a listener and what is needed to answer its requests.
type server struct {
	net.Listener
	tls    *tls.Config // nil: HTTP
	origin string      // scheme, host and port
	token  string
	hosts  map[string]bool // without port, besides those of the certificate
	wait   time.Duration   // for a whole request
}

// listen begins to listen, if the address and the flags allow it.
func (cmd *Command) listen() (*server, error) {
	host, _, err := net.SplitHostPort(cmd.Addr)
	if err != nil {
		return nil, app.UsageError("--addr takes HOST:PORT, such as 127.0.0.1:8080.")
	}
	s := &server{token: web.NewToken(), wait: requestTime}
	if cmd.TokenFile != "" {
		if s.token, err = web.ReadToken(cmd.TokenFile); err != nil {
			return nil, err
		}
	}
	scheme := "http"
	switch local := isLoopback(host); {
	case (cmd.TLSCert == "") != (cmd.TLSKey == ""):
		return nil, app.UsageError("--tls-cert and --tls-key need each other.")
	case !local && (cmd.TLSCert == "" || cmd.TokenFile == ""):
		return nil, app.UsageError("Other hosts can reach %s. It needs --tls-cert, --tls-key and --token-file.",
			cmd.Addr)
	case cmd.TLSCert != "":
		certificate, err := tls.LoadX509KeyPair(cmd.TLSCert, cmd.TLSKey)
		if err != nil {
			return nil, app.UsageError("The certificate cannot be used: %s", app.Sentence(err))
		}
		scheme = "https"
		s.tls = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	s.Listener, err = net.Listen("tcp", cmd.Addr)
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(s.Addr().String())
	s.hosts = map[string]bool{"127.0.0.1": true, "localhost": true, "::1": true}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = s.certificateHost()
	}
	s.origin = scheme + "://" + net.JoinHostPort(host, port)
	return s, nil
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

// leaf returns the certificate of the server; nil: it has none.
func (s *server) leaf() *x509.Certificate {
	if s.tls == nil {
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
	_, own, _ := net.SplitHostPort(s.Addr().String())
	if port != own {
		return false
	}
	leaf := s.leaf()
	return s.hosts[host] || leaf != nil && leaf.VerifyHostname(host) == nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// serve answers requests until ctx is done.
func (s *server) serve(ctx context.Context, d *api.Server) error {
	g := &web.Guard{
		Token: s.token, Origin: strings.SplitN(s.origin, ":", 2)[0], Known: s.knows,
		Help: "Open the address that agent-chatter serve prints.",
		Page: true, Rate: &web.Rate{Burst: burst, Every: changeTime}, MaxBody: api.MaxBody,
	}
	mux := http.NewServeMux()
	mux.Handle("/", g.Files(assets.Handler()))
	mux.Handle("/api/", g.Data(api.Permitted(d.Handler())))
	h := &http.Server{
		Handler: mux, TLSConfig: s.tls, MaxHeaderBytes: maxHeader,
		ReadHeaderTimeout: s.wait, ReadTimeout: s.wait, IdleTimeout: idleTime,
	}
	return web.Serve(ctx, h, s.Listener)
}
