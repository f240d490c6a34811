package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// endTime is how long the requests that are being answered at the end may take.
const endTime = 2 * time.Second

// maxConnections bounds the open connections of a server.
const maxConnections = 128

// Serve answers requests until ctx is done, over TLS if the server has a configuration of it. It sets h.ConnContext. If
// too many connections are open, it closes the oldest of those that have not sent the token of a Guard.
func Serve(ctx context.Context, h *http.Server, l net.Listener) error {
	h.ConnContext = withConnection
	l = newConnections(l, maxConnections)
	ended := make(chan error, 1)
	go func() {
		if h.TLSConfig != nil {
			ended <- h.ServeTLS(l, "", "")
			return
		}
		ended <- h.Serve(l)
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	if err := h.Shutdown(last); errors.Is(err, context.DeadlineExceeded) {
		return h.Close()
	}
	return nil
}
