package serve

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app/apptest"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/devices"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// Clients without the token, whatever they send, do not keep a client with it from an answer. Neither are the
// connections of clients with the token ended by them.
func TestClientsWithoutTokenKeepNobodyOut(t *testing.T) {
	const (
		others  = 300              // more than the server has open
		patient = 30 * time.Second // less than the server waits for them
	)
	for name, start := range map[string]func(host string) string{
		"nothing":        func(string) string { return "" },
		"half a request": func(string) string { return "GE" },
		"half a header":  func(host string) string { return "GET / HTTP/1.1\r\nHost: " + host + "\r\nX: " },
		"a file":         func(host string) string { return "GET /icon.svg HTTP/1.1\r\nHost: " + host + "\r\n\r\n" },
		"a wrong token": func(host string) string {
			return "GET /api/sessions HTTP/1.1\r\nHost: " + host + "\r\nAuthorization: Bearer wrong\r\n\r\n"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _, _ := startedWith(t, Command{Addr: "127.0.0.1:0"}, time.Hour)
			early := &http.Client{Transport: &http.Transport{}}
			stream := get(t, early, s.origin+"/api/stream?list=1", s.token)
			events := bufio.NewReader(stream.Body)
			if _, err := events.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			request := start(s.Addr().String())
			for range others {
				conn := dialed(t, s)
				io.WriteString(conn, request) // its connection may be closed by now
			}
			late := &http.Client{Transport: &http.Transport{}, Timeout: patient}
			if list := get(t, late, s.origin+"/api/sessions", s.token); list.StatusCode != http.StatusOK {
				t.Errorf("with the token: %s", list.Status)
			}
			if _, err := events.ReadString('\n'); err != nil {
				t.Errorf("the stream from before: %v", err)
			}
		})
	}
}

// A client with the token that is not answered yet is closed by no more than as many others.
func TestConnectionsOfClientsWithTheTokenAreKept(t *testing.T) {
	s, _, _ := started(t, Command{Addr: "127.0.0.1:0"})
	request := "GET /api/sessions HTTP/1.1\r\nHost: " + s.Addr().String() +
		"\r\nAuthorization: Bearer " + s.token + "\r\n\r\n"
	var kept []net.Conn
	for range 20 {
		conn := dialed(t, s)
		kept = append(kept, conn)
		answered(t, conn, request)
	}
	for range 300 {
		dialed(t, s)
	}
	for _, conn := range kept {
		answered(t, conn, request)
	}
}

// Idle connections keep no paired device out, and no device that is being paired.
func TestIdleConnectionsKeepNoDeviceOut(t *testing.T) {
	p := startPairing(t, Command{Addr: "127.0.0.1:0"}, func(s *server) { s.wait = time.Hour })
	cookie := p.device(web.RoleRead)
	stream := bufio.NewScanner(p.send(http.MethodGet, "/api/stream?list=1", "", cookie).Body)
	if !stream.Scan() {
		t.Fatal(stream.Err())
	}
	for range 1000 {
		dialed(t, p.server)
	}
	p.client.CloseIdleConnections()
	if got := p.status(http.MethodGet, "/api/sessions", "", cookie); got != http.StatusOK {
		t.Errorf("a paired device: %d", got)
	}
	p.client.CloseIdleConnections()
	if status, _ := p.take(p.codes.New(devices.Grant{Role: web.RoleRead}), "another"); status != http.StatusOK {
		t.Errorf("a device that is being paired: %d", status)
	}
	apptest.CrashedSession(t, p.app.Home) // the list changes
	if nextEvent(stream) == "" {
		t.Error("the stream from before has ended")
	}
}

// answered sends a request and reads the answer.
func answered(t *testing.T, conn net.Conn, request string) {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", response.Status, err)
	}
}
