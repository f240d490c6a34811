package web

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync"
)

// connections is a listener with a bounded number of open connections. If there is one more, the oldest of those that
// have not sent the token is closed: clients without it cannot keep others out, whatever they send. If all have sent
// it, the connection waits.
type connections struct {
	net.Listener
	max int

	mu        sync.Mutex
	open      int
	strangers *list.List    // of *connection: those that have not sent the token, the oldest first
	freed     chan struct{} // receives after a connection was closed
	done      chan struct{} // closed when the listener is
	end       sync.Once
}

func newConnections(l net.Listener, most int) *connections {
	return &connections{
		Listener: l, max: most, strangers: list.New(), freed: make(chan struct{}, 1), done: make(chan struct{}),
	}
}

// connection is an open connection of a connections.
type connection struct {
	net.Conn
	of       *connections
	stranger *list.Element // nil: it has sent the token, or is closed
	closed   bool
}

// Accept implements net.Listener.
func (l *connections) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: accepted, of: l}
	for {
		added, oldest := l.add(c)
		switch {
		case added:
			return c, nil
		case oldest != nil:
			oldest.Close()
			continue
		}
		select {
		case <-l.freed:
		case <-l.done:
			accepted.Close()
			return nil, net.ErrClosed
		}
	}
}

// add adds a connection if there is room. Otherwise it returns the oldest one without the token; nil: all have sent it.
func (l *connections) add(c *connection) (added bool, oldest *connection) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open < l.max {
		l.open++
		c.stranger = l.strangers.PushBack(c)
		return true, nil
	}
	if first := l.strangers.Front(); first != nil {
		oldest = first.Value.(*connection)
	}
	return false, oldest
}

// Close implements net.Listener.
func (l *connections) Close() error {
	l.end.Do(func() { close(l.done) })
	return l.Listener.Close()
}

// Close implements net.Conn.
func (c *connection) Close() error {
	c.of.mu.Lock()
	if !c.closed {
		c.closed = true
		c.of.open--
		c.know()
		select {
		case c.of.freed <- struct{}{}:
		default:
		}
	}
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// know removes the connection from the strangers. The caller has locked them.
func (c *connection) know() {
	if c.stranger != nil {
		c.of.strangers.Remove(c.stranger)
		c.stranger = nil
	}
}

// connectionKey is the key of the connection in the context of a request.
type connectionKey struct{}

// withConnection is an http.Server.ConnContext.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	if encrypted, ok := c.(*tls.Conn); ok {
		c = encrypted.NetConn()
	}
	return context.WithValue(ctx, connectionKey{}, c)
}

// keep keeps the connection of a request, which has sent the token, when others come.
func keep(r *http.Request) {
	if c, ok := r.Context().Value(connectionKey{}).(*connection); ok {
		c.of.mu.Lock()
		defer c.of.mu.Unlock()
		c.know()
	}
}
