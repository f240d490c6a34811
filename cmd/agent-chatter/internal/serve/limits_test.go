package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// dialed opens a connection to a server. It is closed when the test ends.
func dialed(t *testing.T, s *server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// answerTo sends a request as it is and returns the answer.
func answerTo(t *testing.T, s *server, request string) *http.Response {
	t.Helper()
	conn := dialed(t, s)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	return response
}

func TestOddRequestsAreRefused(t *testing.T) {
	s, _, _ := started(t, Command{Addr: "127.0.0.1:0"})
	host := "Host: " + s.Addr().String() + "\r\n"
	secret := "Authorization: Bearer " + s.token + "\r\nAgent-Chatter: 1\r\n"
	for name, test := range map[string]struct {
		request string
		status  int
	}{
		"no host":             {"GET / HTTP/1.1\r\n\r\n", 400},
		"an empty host":       {"GET / HTTP/1.1\r\nHost:\r\n\r\n", 421},
		"HTTP 1.0":            {"GET / HTTP/1.0\r\n\r\n", 421},
		"two hosts":           {"GET / HTTP/1.1\r\n" + host + "Host: evil.example\r\n\r\n", 400},
		"an absolute address": {"GET http://evil.example/ HTTP/1.1\r\n" + host + "\r\n", 421},
		"a long header":       {"GET / HTTP/1.1\r\n" + host + "X: " + strings.Repeat("a", 2*maxHeader) + "\r\n\r\n", 431},
		"many headers":        {"GET / HTTP/1.1\r\n" + host + strings.Repeat("X: a\r\n", maxHeader) + "\r\n", 431},
		"a long path":         {"GET /" + strings.Repeat("a", 2*maxHeader) + " HTTP/1.1\r\n" + host + "\r\n", 431},
		"another method":      {"PUT / HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", 405},
		"TRACE":               {"TRACE / HTTP/1.1\r\n" + host + "\r\n", 405},
		"a form":              {"POST /api/undo HTTP/1.1\r\n" + host + "Content-Length: 0\r\n\r\n", 403},
		"DELETE":              {"DELETE /api/sessions HTTP/1.1\r\n" + host + secret + "\r\n", 405},
		"CONNECT":             {"CONNECT evil.example:80 HTTP/1.1\r\n" + host + "\r\n", 404},
		"no HTTP":             {"\x16\x03\x01\r\n\r\n", 400},
		"a file of the disk":  {"GET /../../etc/passwd HTTP/1.1\r\n" + host + "\r\n", 307},
		"an encoded path":     {"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\n" + host + "\r\n", 404},
		"a source file":       {"GET /assets.go HTTP/1.1\r\n" + host + "\r\n", 404},
		"a NUL":               {"GET /app.js%00.html HTTP/1.1\r\n" + host + "\r\n", 404},
		"two bodies": {"POST /api/sessions HTTP/1.1\r\n" + host + secret +
			"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 405},
	} {
		if got := answerTo(t, s, test.request); got.StatusCode != test.status {
			t.Errorf("%s: %s, want %d", name, got.Status, test.status)
		}
	}
}

// Ranges of a file could be requested many times in one request.
func TestRangesAreIgnored(t *testing.T) {
	s, _, _ := started(t, Command{Addr: "127.0.0.1:0"})
	ranges := "bytes=0-0" + strings.Repeat(",0-", 1000)
	got := answerTo(t, s, "GET /app.js HTTP/1.1\r\nHost: "+s.Addr().String()+"\r\nRange: "+ranges+"\r\n\r\n")
	whole := answerTo(t, s, "GET /app.js HTTP/1.1\r\nHost: "+s.Addr().String()+"\r\n\r\n")
	if got.StatusCode != http.StatusOK || got.ContentLength != whole.ContentLength {
		t.Errorf("%s, %d of %d bytes", got.Status, got.ContentLength, whole.ContentLength)
	}
}

// impatient is a time for a request that a test can wait for.
const impatient = 300 * time.Millisecond

// TestSlowRequestsEnd sends the beginning of a header, of a body, and nothing. The server ends the connections.
func TestSlowRequestsEnd(t *testing.T) {
	s, _, _ := startedWith(t, Command{Addr: "127.0.0.1:0"}, impatient)
	host := "Host: " + s.Addr().String() + "\r\n"
	for name, start := range map[string]string{
		"nothing":  "",
		"a header": "GET / HTTP/1.1\r\n" + host + "X: ",
		"a body": "POST /api/sessions/demo/x/rename HTTP/1.1\r\n" + host + "Authorization: Bearer " + s.token +
			"\r\nAgent-Chatter: 1\r\nContent-Length: 100\r\n\r\n{",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := dialed(t, s)
			if _, err := io.WriteString(conn, start); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, conn) // until the server ends it
		})
	}
}

// TestManyConnectionsWait opens more connections than the server accepts. Those that say nothing are ended, so that
// one that was opened after them is answered.
func TestManyConnectionsWait(t *testing.T) {
	s, _, _ := startedWith(t, Command{Addr: "127.0.0.1:0"}, impatient)
	for range 1000 {
		dialed(t, s)
	}
	if got := answerTo(t, s, fmt.Sprintf("GET / HTTP/1.1\r\nHost: %s\r\n\r\n", s.Addr())); got.StatusCode != http.StatusOK {
		t.Errorf("%s", got.Status)
	}
}
