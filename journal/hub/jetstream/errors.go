package jetstream

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-chatter/agent-chatter/journal/hub"
)

// Codes of the server that the library does not name.
const (
	codeStreamNotMatch  jetstream.ErrorCode = 10060 // another stream was expected
	codeNoResources     jetstream.ErrorCode = 10023
	codeStorageExceeded jetstream.ErrorCode = 10047
	codeNoLeader        jetstream.ErrorCode = 10008 // too few servers of the cluster are running
	codeReplicas        jetstream.ErrorCode = 10074 // replicas need a cluster
	codeStreamStore     jetstream.ErrorCode = 10077 // a write failed, for example because the disk is full
)

// errOff is the answer of a server without JetStream, which is that nothing listens for the request.
var errOff = &hub.RefusedError{Reason: "JetStream is off on the server"}

// explain returns the error of a call in the terms of package hub.
func (e *Engine) explain(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var refused *hub.RefusedError
	if cause := context.Cause(ctx); errors.As(cause, &refused) {
		return refused
	}
	if ctx.Err() == context.Canceled {
		return context.Canceled
	}
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return errOff
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return hub.ErrMissing
	case errors.As(err, &api) && api.ErrorCode == codeStreamNotMatch:
		return hub.ErrMissing
	case errors.As(err, &api) && (api.Code < 500 || isRefusal(api.ErrorCode)):
		return &hub.RefusedError{Reason: api.Description}
	}
	return unavailable(err)
}

// unavailable returns a *hub.UnavailableError with a reason in words.
func unavailable(err error) error {
	reason := strings.TrimPrefix(err.Error(), "nats: ")
	var api *jetstream.APIError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
		reason = "no answer in time"
	case errors.Is(err, nats.ErrNoResponders), errors.Is(err, jetstream.ErrNoStreamResponse):
		reason = "too few of its servers are running"
	case errors.As(err, &api) && api.ErrorCode == codeNoLeader:
		reason = "too few of its servers are running"
	case errors.As(err, &api):
		reason = api.Description
	case errors.Is(err, nats.ErrDisconnected), errors.Is(err, nats.ErrConnectionClosed),
		errors.Is(err, nats.ErrConnectionReconnecting), errors.Is(err, nats.ErrReconnectBufExceeded):
		reason = "the connection is lost"
	}
	return &hub.UnavailableError{Err: &reasonError{reason, err}}
}

// reasonError is an error with another text.
type reasonError struct {
	reason string
	err    error
}

func (e *reasonError) Error() string { return e.reason }

// Unwrap returns the error.
func (e *reasonError) Unwrap() error { return e.err }

// isRefusal reports whether a code of 500 or more is no passing state of the server.
func isRefusal(code jetstream.ErrorCode) bool {
	return code == codeNoResources || code == codeStorageExceeded || code == codeStreamStore || code == codeReplicas
}

// explainConnect returns the error of connecting to servers.
func explainConnect(err error, servers string) error {
	var (
		invalid   x509.CertificateInvalidError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		alert     tls.AlertError
	)
	switch {
	case errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return &hub.UnavailableError{Err: errors.New("no answer in time from " + servers)}
	case errors.Is(err, nats.ErrNoServers):
		return &hub.UnavailableError{Err: errors.New("no server listens at " + servers)}
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired),
		errors.Is(err, nats.ErrAuthRevoked):
		return &hub.RefusedError{Reason: "the credentials are wrong or have expired"}
	case errors.As(err, &invalid), errors.As(err, &authority), errors.As(err, &host), errors.As(err, &alert):
		return &hub.RefusedError{Reason: strings.TrimPrefix(err.Error(), "nats: ")}
	case errors.Is(err, nats.ErrSecureConnRequired):
		return &hub.RefusedError{Reason: "the server requires TLS: its address starts with tls://"}
	case errors.Is(err, nats.ErrSecureConnWanted):
		return &hub.RefusedError{Reason: "the server has no TLS: its address does not start with tls://"}
	}
	return &hub.UnavailableError{Err: err}
}
