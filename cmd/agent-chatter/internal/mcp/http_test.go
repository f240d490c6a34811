package mcp

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp/recall"
	"github.com/agent-chatter/agent-chatter/projection/catalog/catalogtest"
)

// start serves a home with a few sessions over HTTP until the test ends.
func start(t *testing.T) *listener {
	t.Helper()
	return startWith(t, func(handler http.Handler, _ string) http.Handler { return handler })
}

// startWith is start with a handler around that of the listener.
func startWith(t *testing.T, around func(handler http.Handler, token string) http.Handler) *listener {
	t.Helper()
	home := t.TempDir()
	a, err := app.New(app.IO{Stdout: io.Discard, Stderr: io.Discard}, app.Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (catalogtest.Sessions{Count: 3}).Fill(a.Catalog.Root()); err != nil {
		t.Fatal(err)
	}
	l, err := (&Command{HTTP: "127.0.0.1:0"}).listen()
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- l.serve(ctx, around(l.handler(recall.New(a, "").Server("1")), l.token)) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l
}

// withToken sends requests with a token.
type withToken string

func (token withToken) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(token))
	return http.DefaultTransport.RoundTrip(r)
}

// connect returns a client of a listener.
func connect(t *testing.T, l *listener) (*sdk.ClientSession, error) {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil)
	return client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: l.address(), HTTPClient: &http.Client{Transport: withToken(l.token)},
	}, nil)
}

func TestClientsOverHTTP(t *testing.T) {
	l := start(t)
	for range 2 {
		client, err := connect(t, l)
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		result, err := client.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_sessions"})
		if err != nil || result.IsError {
			t.Fatal(result, err)
		}
		if text := result.Content[0].(*sdk.TextContent).Text; !strings.Contains(text, "3 of 3 sessions") {
			t.Errorf("got %s", text)
		}
	}
}

func TestTooManyClients(t *testing.T) {
	l := start(t)
	var clients []*sdk.ClientSession
	for {
		client, err := connect(t, l)
		if err != nil {
			break
		}
		defer client.Close()
		if clients = append(clients, client); len(clients) > maxSessions {
			t.Fatalf("%d clients are connected", len(clients))
		}
	}
	if len(clients) < maxSessions/2 {
		t.Errorf("only %d clients are connected", len(clients))
	}
	if err := clients[0].Ping(t.Context(), nil); err != nil {
		t.Errorf("a client that is connected: %v", err)
	}
}

// ask sends the first request of a client and returns the status of the answer.
func ask(t *testing.T, l *listener, change func(*http.Request)) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.address(), strings.NewReader(initialize))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+l.token)
	change(r)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

func TestRequestsOfOthersAreRefused(t *testing.T) {
	l := start(t)
	for name, test := range map[string]struct {
		change func(*http.Request)
		status int
	}{
		"nothing changed":  {func(*http.Request) {}, 200},
		"own origin":       {func(r *http.Request) { r.Header.Set("Origin", "http://"+l.Addr().String()) }, 200},
		"localhost":        {func(r *http.Request) { r.Host = "localhost:" + l.port }, 200},
		"no token":         {func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"wrong token":      {func(r *http.Request) { r.Header.Set("Authorization", "Bearer x"+l.token) }, 401},
		"token in the URL": {func(r *http.Request) { r.Header.Del("Authorization"); r.URL.RawQuery = "token=" + l.token }, 401},
		"rebound name":     {func(r *http.Request) { r.Host = "evil.example:" + l.port }, 421},
		"other port":       {func(r *http.Request) { r.Host = "127.0.0.1:1" }, 421},
		"other origin":     {func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }, 403},
		"page from a file": {func(r *http.Request) { r.Header.Set("Origin", "null") }, 403},
		"cross-site":       {func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"long body": {func(r *http.Request) {
			r.Body = io.NopCloser(strings.NewReader(strings.Repeat(" ", maxBody+1)))
			r.ContentLength = -1
		}, 413},
		"another path":      {func(r *http.Request) { r.URL.Path = "/" }, 404},
		"form":              {func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }, 415},
		"unknown session":   {func(r *http.Request) { r.Header.Set("Mcp-Session-Id", "x") }, 404},
		"preflight request": {func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "http://evil.example") }, 403},
	} {
		t.Run(name, func(t *testing.T) {
			if status := ask(t, l, test.change); status != test.status {
				t.Errorf("status %d, want %d", status, test.status)
			}
		})
	}
}

func TestListenRefuses(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, cmd := range []Command{
		{HTTP: ":8765"}, {HTTP: "8765"}, {HTTP: "0.0.0.0:0"}, {HTTP: "192.0.2.1:0"}, {HTTP: "chat.example:0"},
		{HTTP: "[::]:0"}, {HTTP: "127.0.0.1"}, {HTTP: "127.0.0.1:0", TokenFile: token},
	} {
		l, err := cmd.listen()
		if err == nil {
			l.Close()
		}
		if app.CodeOf(err) != app.ExitUsage {
			t.Errorf("%+v: %v", cmd, err)
		}
	}
}

func TestTokenOfAFile(t *testing.T) {
	const secret = "0123456789abcdefghij"
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := &Command{HTTP: "127.0.0.1:0", TokenFile: token, Output: "text"}
	l, err := cmd.listen()
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var stdout, stderr strings.Builder
	a := &app.App{Printer: app.Printer{IO: app.IO{Stdout: &stdout, Stderr: &stderr}}}
	if err := cmd.announce(a, l); err != nil {
		t.Fatal(err)
	}
	if l.token != secret || strings.Contains(stdout.String()+stderr.String(), secret) {
		t.Errorf("token %s; printed %s%s", l.token, &stdout, &stderr)
	}
	if stdout.String() != l.address()+"\n" {
		t.Errorf("printed %s", &stdout)
	}
}
