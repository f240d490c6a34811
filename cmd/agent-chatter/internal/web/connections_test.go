package web

import (
	"errors"
	"net"
	"testing"
)

// If all connections have sent the token, one more waits until one of them is closed, or the listener is.
func TestConnectionsWaitForThoseWithTheToken(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := newConnections(inner, 2)
	defer l.Close()
	accept := func() net.Conn {
		t.Helper()
		client, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		c, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	know := func(c net.Conn) {
		l.mu.Lock()
		defer l.mu.Unlock()
		c.(*connection).know()
	}
	first, second := accept(), accept()
	know(first)
	third := accept() // closes the second
	if _, err := second.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the connection without the token: %v", err)
	}
	know(third)
	second.Close() // again: it counts once
	go first.Close()
	fourth := accept()
	know(fourth)
	client, err := net.Dial("tcp", inner.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	l.Close()
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept of a closed listener: %v", err)
	}
}
