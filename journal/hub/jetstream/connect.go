package jetstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
	"github.com/agent-chatter/agent-chatter/journal/regularfile"
)

// Options say where the servers are and who connects to them.
type Options struct {
	URLs        []string      // such as nats://hub.example.com:4222, or tls://…
	Credentials string        // path of a .creds file; "": none
	CA          string        // path of the certificates that sign those of the servers; "": those of the system
	Cert, Key   string        // paths of the client's certificate and its key; "": none
	Timeout     time.Duration // of connecting, and of each answer; 0: 5 s
}

// DefaultTimeout is the default of Options.Timeout.
const DefaultTimeout = 5 * time.Second

// minVersion is the oldest version of the server that has what is used here.
const minVersion = "2.10"

// Engine is a connection to a hub on JetStream. It implements hub.Engine.
type Engine struct {
	conn    *nats.Conn
	js      jetstream.JetStream
	timeout time.Duration

	stream      atomic.Pointer[jetstream.Stream]
	connections atomic.Uint64

	mu     sync.Mutex
	calls  map[int]call // those that are under way
	lastID int
}

// Open connects to a hub. Errors: hub.ErrMissing if no stream was created, hub.ErrNewer,
// *hub.UnavailableError, *hub.RefusedError, and that of ctx.
func Open(ctx context.Context, o Options) (*Engine, error) {
	e, err := connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := e.findStream(ctx); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// Init connects to the servers and creates the hub, unless it exists. created reports whether it did. replicas is how
// many servers store each message; 0: one, or as many as store those of the existing hub.
func Init(ctx context.Context, o Options, replicas int) (e *Engine, created bool, err error) {
	e, err = connect(ctx, o)
	if err != nil {
		return nil, false, err
	}
	err = e.findStream(ctx)
	switch {
	case errors.Is(err, hub.ErrMissing):
		created, err = true, e.createStream(ctx, max(replicas, 1))
	case err == nil && replicas > 0 && replicas != e.Replicas():
		err = e.setReplicas(ctx, replicas)
	}
	if err != nil {
		e.Close()
		return nil, false, err
	}
	return e, created, nil
}

func connect(ctx context.Context, o Options) (*Engine, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	e := &Engine{timeout: cmp.Or(o.Timeout, DefaultTimeout), calls: map[int]call{}}
	e.connections.Store(1)
	servers, err := hosts(o.URLs)
	if err != nil {
		return nil, err
	}
	options, err := e.options(o)
	if err != nil {
		return nil, err
	}
	if e.conn, err = dial(ctx, o.URLs, options); err != nil {
		return nil, explainConnect(err, servers)
	}
	if version := e.conn.ConnectedServerVersion(); older(version, minVersion) {
		e.Close()
		reason := fmt.Sprintf("the server has version %s, and %s is needed", version, minVersion)
		return nil, &hub.RefusedError{Reason: reason}
	}
	if e.js, err = jetstream.New(e.conn); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// schemes are those of addresses that nats.Connect distinguishes. It takes others for the first.
var schemes = []string{"nats", "tls", "ws", "wss"}

// hosts returns the servers of addresses, for messages: an address may have a password.
func hosts(urls []string) (string, error) {
	var all []string
	for i, text := range urls {
		if !strings.Contains(text, "://") {
			text = "nats://" + text
		}
		u, err := url.Parse(strings.TrimSpace(text))
		if err != nil || u.Hostname() == "" || !slices.Contains(schemes, u.Scheme) { // the error has the address
			reason := fmt.Sprintf("address %d of %d is not one such as nats://hub.example.com:4222", i+1, len(urls))
			if err == nil && u.Hostname() != "" {
				reason = fmt.Sprintf("address %d of %d starts with %s://, and not with %s://",
					i+1, len(urls), u.Scheme, strings.Join(schemes, "://, "))
			}
			return "", &hub.UnavailableError{Err: errors.New(reason)}
		}
		all = append(all, u.Host)
	}
	return strings.Join(all, ", "), nil
}

// dial connects to one of the servers. The library's timeout is one of each server, and does not bound the lookup of
// their names: a connection that is made after ctx is done is closed.
func dial(ctx context.Context, urls []string, options []nats.Option) (*nats.Conn, error) {
	type dialed struct {
		conn *nats.Conn
		err  error
	}
	result := make(chan dialed, 1)
	go func() {
		conn, err := nats.Connect(strings.Join(urls, ","), options...)
		result <- dialed{conn, err}
	}()
	select {
	case d := <-result:
		return d.conn, d.err
	case <-ctx.Done():
		go func() {
			if d := <-result; d.err == nil {
				d.conn.Close()
			}
		}()
		return nil, ctx.Err()
	}
}

// maxFile bounds the files that Options name, in bytes.
const maxFile = 1 << 20

func (e *Engine) options(o Options) ([]nats.Option, error) {
	options := []nats.Option{
		nats.Name("agent-chatter"), nats.Timeout(e.timeout), nats.MaxReconnects(-1),
		nats.ReconnectWait(250 * time.Millisecond), nats.ReconnectBufSize(-1), nats.IgnoreAuthErrorAbort(),
		nats.ReconnectHandler(func(*nats.Conn) { e.connections.Add(1) }),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { e.refuse(err) }),
	}
	for _, path := range []string{o.Credentials, o.CA, o.Cert, o.Key} {
		if path == "" {
			continue
		}
		if _, err := regularfile.Read(path, maxFile); err != nil {
			return nil, err
		}
	}
	if o.Credentials != "" {
		options = append(options, nats.UserCredentials(o.Credentials))
	}
	if o.CA != "" {
		options = append(options, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		options = append(options, nats.ClientCert(o.Cert, o.Key))
	}
	return options, nil
}

// older reports whether a version is older than another one of two numbers.
func older(version, than string) bool {
	var major, minor, wantMajor, wantMinor int
	fmt.Sscanf(than, "%d.%d", &wantMajor, &wantMinor)
	if n, _ := fmt.Sscanf(version, "%d.%d", &major, &minor); n < 2 {
		return false // a build without a version
	}
	return major < wantMajor || major == wantMajor && minor < wantMinor
}

// Close implements hub.Engine.
func (e *Engine) Close() { e.conn.Close() }

// Connections implements hub.Engine.
func (e *Engine) Connections() uint64 { return e.connections.Load() }

// Name implements hub.Engine. It is the name of the stream.
func (e *Engine) Name() string { return (*e.stream.Load()).CachedInfo().Config.Name }
