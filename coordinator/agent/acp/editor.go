package acp

import (
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// Services are what the client offers to the agent.
type Services struct{ ReadTextFile, WriteTextFile, Terminals bool }

// A ServiceRequest is a request for a service of the client. The agent may send other messages before it is answered
// with Respond or Fail.
type ServiceRequest struct {
	Method string // one of the ClientMethod constants of the SDK, for a service that the client offers

	Path        string // of a file
	Line, Limit int    // of a file to read; 0 is none
	Content     string // of a file to write

	Command     string // of a new terminal
	Args        []string
	Env         map[string]string
	Dir         string
	OutputLimit int

	Terminal string // the id of an existing one

	id json.RawMessage
}

func (ServiceRequest) message() {}

// offers reports whether the client offers the service that a method requests.
func (s Services) offers(method string) bool {
	switch method {
	case sdk.ClientMethodFsReadTextFile:
		return s.ReadTextFile
	case sdk.ClientMethodFsWriteTextFile:
		return s.WriteTextFile
	case sdk.ClientMethodTerminalCreate, sdk.ClientMethodTerminalOutput, sdk.ClientMethodTerminalWaitForExit,
		sdk.ClientMethodTerminalKill, sdk.ClientMethodTerminalRelease:
		return s.Terminals
	}
	return false
}

// serviceRequestOf decodes a request for a service. It fails one of another session, whose turn is over.
func (c *Client) serviceRequestOf(m jsonrpc.Message) (ServiceRequest, bool) {
	var params struct {
		SessionID       sdk.SessionId
		Path            string
		Line, Limit     int
		Content         string
		Command         string
		Args            []string
		Env             []sdk.EnvVariable
		Cwd             string
		OutputByteLimit int
		TerminalID      string
	}
	r := ServiceRequest{Method: m.Method, id: m.ID}
	if !jsonlines.Decode(m.Params, &params) || params.SessionID != c.session {
		c.Fail(r, "the session has no turn")
		return r, false
	}
	r.Path, r.Line, r.Limit, r.Content = params.Path, params.Line, params.Limit, params.Content
	r.Command, r.Args, r.Dir, r.OutputLimit = params.Command, params.Args, params.Cwd, params.OutputByteLimit
	r.Terminal, r.Env = params.TerminalID, map[string]string{}
	for _, v := range params.Env {
		r.Env[v.Name] = v.Value
	}
	return r, true
}

// codeServiceFailed is the code of the errors of services.
const codeServiceFailed = -32603

// Respond sends the result of a request. It may be called concurrently with other methods.
func (c *Client) Respond(r ServiceRequest, result any) { c.conn.Respond(r.id, result) }

// Fail responds that the service failed or was refused, and why. It may be called concurrently with other methods.
func (c *Client) Fail(r ServiceRequest, reason string) {
	c.conn.RespondError(r.id, codeServiceFailed, reason, nil)
}
