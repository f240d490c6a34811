package home

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/hub/jetstream"
	"github.com/agent-chatter/agent-chatter/projection/catalog/replica"
)

// AskTimeout bounds how long a command waits for the answer to whether the hub has more than this machine.
const AskTimeout = 2 * time.Second

var (
	// ErrNoHub is returned if no hub is configured.
	ErrNoHub = errors.New("no hub is configured")
	// ErrOffline is returned with --offline if a hub is configured.
	ErrOffline = errors.New("the hub is not used: --offline")
)

// Connection is the connection to a hub. It is made when it is needed. The zero Connection has no hub.
type Connection struct {
	Home   string                 // its identities open sessions; messages to other machines name it
	Config func() (Config, error) // nil: there is no hub
	URLs   string                 // separated by commas; "": those of the configuration

	Offline bool // the hub is not used

	// Open connects to the engine of the hub; nil: jetstream.Open.
	Open func(context.Context, jetstream.Options) (hub.Engine, error)

	init sync.Once
	held chan struct{} // has an element while hub is used
	hub  *hub.Hub

	silence  silence
	reported sync.Map // texts
}

// lock waits until no other call uses c.hub, or ctx is done. The caller calls unlock.
func (c *Connection) lock(ctx context.Context) (unlock func(), err error) {
	c.init.Do(func() { c.held = make(chan struct{}, 1) })
	select {
	case c.held <- struct{}{}:
		return func() { <-c.held }, nil
	case <-ctx.Done():
		return nil, &hub.UnavailableError{Err: ctx.Err()}
	}
}

// HasPassword reports whether one of the addresses has a user: other users of the machine can read it on a command
// line.
func HasPassword(addresses string) bool {
	for address := range strings.SplitSeq(addresses, ",") {
		if u, err := url.Parse(address); err != nil && strings.Contains(address, "@") || err == nil && u.User != nil {
			return true
		}
	}
	return false
}

// First reports whether it is called with a text for the first time.
func (c *Connection) First(text string) bool {
	_, known := c.reported.LoadOrStore(text, true)
	return !known
}

// Settings returns the settings of the hub that is used; without URLs there is none.
func (c *Connection) Settings() (HubSettings, error) {
	if c != nil && c.Offline {
		return HubSettings{}, nil
	}
	return c.Configured()
}

// Configured returns the settings of the hub, which is not used with Offline; without URLs there is none.
func (c *Connection) Configured() (HubSettings, error) {
	if c == nil || c.Config == nil {
		return HubSettings{}, nil
	}
	settings, err := c.Config()
	if err != nil {
		return HubSettings{}, err
	}
	if c.URLs != "" {
		return settings.Hub.WithURLs(c.URLs), nil
	}
	return settings.Hub, nil
}

// none reports whether there is no hub, or nothing is shipped to it.
func none(settings HubSettings) bool { return len(settings.URLs) == 0 || len(settings.Teams) == 0 }

// Options returns the options of a connection. It returns ErrNoHub or ErrOffline if there is no hub.
func (c *Connection) Options() (o jetstream.Options, err error) {
	settings, err := c.Configured()
	switch {
	case err != nil:
	case len(settings.URLs) == 0:
		err = ErrNoHub
	case c.Offline:
		err = ErrOffline
	}
	if err != nil {
		return o, err
	}
	o.URLs, o.Timeout = settings.URLs, settings.Wait()
	for _, file := range []struct {
		path    *string
		setting string
		value   string
	}{
		{&o.Credentials, "hub.credentials", settings.Credentials}, {&o.CA, "hub.tls.ca", settings.TLS.CA},
		{&o.Cert, "hub.tls.cert", settings.TLS.Cert}, {&o.Key, "hub.tls.key", settings.TLS.Key},
	} {
		if *file.path, err = c.file(file.value); err != nil {
			return o, fmt.Errorf("%s of config.json: %w", file.setting, err)
		}
	}
	return o, nil
}

// file returns the absolute path of a file that the configuration names and that exists. A relative one starts
// at the home.
func (c *Connection) file(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	path, err := ExpandPath(path)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.Home, path)
	}
	_, err = os.Stat(path)
	return path, err
}

// Hub returns the hub, and connects to it if there is no connection yet. It returns ErrNoHub or ErrOffline if there is
// none; other errors are those of jetstream.Open, after which it may be called again.
func (c *Connection) Hub(ctx context.Context) (*hub.Hub, error) {
	o, err := c.Options()
	if err != nil {
		return nil, err
	}
	unlock, err := c.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if c.hub != nil {
		return c.hub, nil
	}
	machine, err := c.machine()
	if err != nil {
		return nil, err
	}
	open := c.Open
	if open == nil {
		open = func(ctx context.Context, o jetstream.Options) (hub.Engine, error) { return jetstream.Open(ctx, o) }
	}
	engine, err := open(ctx, o)
	if err != nil {
		return nil, err
	}
	c.hub = hub.New(engine, machine)
	return c.hub, nil
}

// machine returns what the hub has to know of this machine.
func (c *Connection) machine() (hub.Options, error) {
	settings, err := c.Settings()
	if err != nil {
		return hub.Options{}, err
	}
	all, err := c.Config()
	if err != nil {
		return hub.Options{}, err
	}
	o := hub.Options{Home: c.Home, Plain: settings.Plain, MaxLine: all.Journal.MaxLine, Check: replica.Check}
	if o.Recipients, err = ParseRecipients(settings.EncryptTo); err != nil {
		return o, fmt.Errorf("hub.encryptTo of config.json: %w", err)
	}
	if o.Identities, err = LoadIdentities(IdentitiesDir(c.Home)); err != nil {
		return o, err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	o.Host = host
	return o, nil
}

// Close ends the connection.
func (c *Connection) Close() {
	if c == nil {
		return
	}
	unlock, err := c.lock(context.Background())
	if err != nil {
		return
	}
	defer unlock()
	if c.hub != nil {
		c.hub.Close()
		c.hub = nil
	}
}
