package natstest

import (
	"io"
	"net"
	"sync"
)

// Proxy forwards connections to a port. It can be cut, and stalled.
type Proxy struct {
	listener net.Listener
	target   string

	mu      sync.Mutex
	cut     bool
	stalled chan struct{} // closed when bytes flow again; nil: they flow
	conns   map[net.Conn]bool
}

// NewProxy starts a proxy for an address.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: l, target: target, conns: map[net.Conn]bool{}}
	go p.serve()
	return p, nil
}

// Address returns the address of the proxy.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Cut ends all connections and refuses others, until it is called with false.
func (p *Proxy) Cut(cut bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut = cut; cut {
		for c := range p.conns {
			c.Close()
		}
	}
}

// Stall forwards nothing, until it is called with false.
func (p *Proxy) Stall(stall bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case stall && p.stalled == nil:
		p.stalled = make(chan struct{})
	case !stall && p.stalled != nil:
		close(p.stalled)
		p.stalled = nil
	}
}

// Close ends the proxy.
func (p *Proxy) Close() {
	p.listener.Close()
	p.Stall(false)
	p.Cut(true)
}

func (p *Proxy) serve() {
	for {
		in, err := p.listener.Accept()
		if err != nil {
			return
		}
		go p.forward(in)
	}
}

func (p *Proxy) forward(in net.Conn) {
	defer in.Close()
	if !p.add(in) {
		return
	}
	defer p.remove(in)
	out, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer out.Close()
	if !p.add(out) {
		return
	}
	defer p.remove(out)
	go p.copy(in, out)
	p.copy(out, in)
}

func (p *Proxy) add(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) remove(c net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

// copy copies until one side ends, and ends the other one.
func (p *Proxy) copy(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	_, _ = io.Copy(to, stallable{from, p})
}

// stallable reads from a connection unless the proxy is stalled.
type stallable struct {
	net.Conn
	p *Proxy
}

func (s stallable) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	s.p.mu.Lock()
	stalled := s.p.stalled
	s.p.mu.Unlock()
	if stalled != nil {
		<-stalled
	}
	return n, err
}
