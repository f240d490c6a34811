package acp

import (
	"context"
	"errors"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// ErrExited is returned when the agent has closed its standard output, normally by exiting.
var ErrExited = jsonrpc.ErrExited

// jsonRPC is the version in every message.
const jsonRPC = "2.0"

// A RequestError is the agent's refusal of a request.
type RequestError struct {
	Message      string // in the agent's words
	AuthRequired bool   // the user has to log in
}

func (e *RequestError) Error() string { return e.Message }

// codeAuthRequired is the protocol's error code for an agent that is not logged in.
const codeAuthRequired = -32000

// requestError returns an error of the connection, a refusal as *RequestError.
func requestError(err error) error {
	refused, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case !ok:
		return err
	case refused.Code == codeAuthRequired:
		return &RequestError{Message: refused.Message, AuthRequired: true}
	}
	return &RequestError{Message: refused.Error()}
}

// call sends a request, waits for the response and decodes its result. It drops everything else
// that the agent sends meanwhile, but notes the mode that it reports. Errors are those of Conn.Receive, and
// *RequestErrors.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	return requestError(c.conn.Call(ctx, method, params, result, c.noteMode))
}
