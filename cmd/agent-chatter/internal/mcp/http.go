package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/app"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/mcp/recall"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/web"
)

// The bounds of the HTTP server.
const (
	maxSessions = 64       // of clients
	maxHeader   = 16 << 10 // bytes
	maxBody     = 64 << 10 // bytes
	requestTime = 10 * time.Second
	idleTime    = time.Minute
	sessionTime = 10 * time.Minute // after which a session without requests ends
	answerTime  = recall.MaxTime + time.Minute
)

// endpoint is the path at which clients connect.
const endpoint = "/mcp"

// A listener is where clients connect, and what they need for that.
type listener struct {
	net.Listener
	port  string
	token string
}

// listen begins to listen, if other hosts cannot reach the address.
func (cmd *Command) listen() (*listener, error) {
	host, _, err := net.SplitHostPort(cmd.HTTP)
	if err != nil || !isLoopback(host) {
		return nil, app.UsageError("--http takes an address that no other host can reach, such as 127.0.0.1:8765.")
	}
	l := &listener{token: web.NewToken()}
	if cmd.TokenFile != "" {
		if l.token, err = web.ReadToken(cmd.TokenFile); err != nil {
			return nil, err
		}
	}
	if l.Listener, err = net.Listen("tcp", cmd.HTTP); err != nil {
		return nil, err
	}
	_, l.port, _ = net.SplitHostPort(l.Addr().String())
	return l, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// knows reports whether a host, with its port, is an address of the listener.
func (l *listener) knows(hostport string) bool {
	host, port, err := net.SplitHostPort(hostport)
	return err == nil && port == l.port && isLoopback(host)
}

// address returns the URL for clients.
func (l *listener) address() string { return "http://" + l.Addr().String() + endpoint }

// handler returns the handler of the requests to a server.
func (l *listener) handler(server *sdk.Server) http.Handler {
	streams := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		n := 0
		for range server.Sessions() {
			n++
		}
		if n >= maxSessions {
			return nil // only existing sessions continue
		}
		return server
	}, &sdk.StreamableHTTPOptions{
		SessionTimeout: sessionTime, MaxRequestBodyBytes: maxBody, PropagateRequestCancellation: true,
	})
	mux := http.NewServeMux()
	mux.Handle(endpoint, whole(streams))
	g := &web.Guard{
		Token: l.token, Origin: "http", Known: l.knows,
		Help: "Send it in the header Authorization: Bearer TOKEN.",
	}
	return g.Data(mux)
}

// whole reads the body of a request, for which a client has requestTime, before it passes the request on. The answer
// may take as long as a call.
func whole(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetReadDeadline(time.Now().Add(requestTime))
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			status := http.StatusBadRequest
			if errors.As(err, new(*http.MaxBytesError)) {
				status = http.StatusRequestEntityTooLarge
			}
			http.Error(w, "The request cannot be read: "+err.Error(), status)
			return
		}
		_ = control.SetReadDeadline(time.Time{})
		_ = control.SetWriteDeadline(time.Now().Add(answerTime))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

// serveHTTP serves clients until a signal.
func (cmd *Command) serveHTTP(a *app.App, server *sdk.Server) error {
	ctx, stop := app.UntilSignal()
	defer stop()
	l, err := cmd.listen()
	if err != nil {
		return err
	}
	defer l.Close()
	if err := cmd.announce(a, l); err != nil {
		return err
	}
	return l.serve(ctx, l.handler(server))
}

// announce prints the address, and the token unless the user has it.
func (cmd *Command) announce(a *app.App, l *listener) error {
	if cmd.Output == "json" {
		return app.WriteJSON(a.Stdout, map[string]string{"address": l.address(), "token": l.token})
	}
	if _, err := fmt.Fprintln(a.Stdout, l.address()); err != nil {
		return err
	}
	header := "Authorization: Bearer " + l.token
	if cmd.TokenFile != "" {
		header = "Authorization: Bearer, and the token"
	}
	a.Notice("Clients send the header " + header + "\n" +
		"A client with the token can read the sessions. Press Ctrl+C to end.")
	return nil
}

// serve answers requests until ctx is done.
func (l *listener) serve(ctx context.Context, handler http.Handler) error {
	h := &http.Server{
		Handler: handler, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: requestTime, IdleTimeout: idleTime,
	}
	return web.Serve(ctx, h, l.Listener)
}
