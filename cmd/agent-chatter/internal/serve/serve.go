package serve

import (
	"context"
	"net/url"
	"path/filepath"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/serve/api"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// Command serves a page with the sessions until a signal ends it.
type Command struct {
	ID        string   `arg:"" optional:"" help:"The session to open: id, ID#N, title or latest (default: the list)."`
	Addr      string   `help:"Address to listen on; port 0 is any free one." default:"127.0.0.1:0" placeholder:"HOST:PORT"`
	Open      bool     `help:"Open the page in the web browser."`
	Chat      bool     `help:"Let the page hold conversations with teams."`
	Allow     []string `help:"Directory for new conversations; repeatable (default: this one)." sep:"none" placeholder:"DIR"`
	Pair      bool     `help:"Print an address that pairs a device, and its QR code."`
	Role      web.Role `help:"What the device may do: ${enum}." enum:"read,answer,all" default:"answer"`
	TokenFile string   `help:"File with the token of the page (default: a new random one)." placeholder:"PATH"`
	TLSOwn    bool     `name:"tls-own" help:"Make the certificate, for an address of other hosts."`
	TLSCert   string   `name:"tls-cert" help:"File with the certificates; needed for addresses of other hosts." placeholder:"PATH"`
	TLSKey    string   `name:"tls-key" help:"File with the private key of the certificate." placeholder:"PATH"`
	Output    string   `help:"Output format: ${enum}." enum:"text,json" default:"text"`

	// NewHost returns what runs the conversations of --chat, which work in the directories, until ctx is done.
	NewHost func(ctx context.Context, a *app.App, directories []string) (Host, error) `kong:"-"`
}

// A Host runs conversations. Close waits for their end.
type Host interface {
	api.Hosts
	Close()
}

// Help returns the examples for --help.
func (Command) Help() string {
	return `Examples:
  agent-chatter serve --open
  agent-chatter serve latest
  agent-chatter serve --chat --open
  agent-chatter serve --chat --pair --addr 192.168.1.20:8443 --tls-own
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
	directories, err := cmd.directories(a)
	if err != nil {
		return err
	}
	s, err := cmd.listen(a.Home)
	if err != nil {
		return err
	}
	defer s.Close()
	p := newPairing(a, s)
	if err := cmd.checkHome(a, p); err != nil {
		return err
	}
	var hosts api.Hosts
	if cmd.Chat {
		h, err := cmd.NewHost(ctx, a, directories)
		if err != nil {
			return err
		}
		defer h.Close()
		hosts = h
	}
	address := s.origin + path + "#token=" + s.token + fragment
	if err := cmd.announce(a, p, address, directories); err != nil {
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
	d := api.New(a, hosts, ctx.Done())
	go a.Remote.Watch(ctx, a.Catalog, d.TakeElsewhere)
	return s.serve(ctx, d, p)
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
