package acp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonrpc"
)

// methodCancel notifies that a request is cancelled.
const methodCancel = "$/cancel_request"

// A FormRequest asks the user to fill in a form. The agent may send other messages before it is answered.
type FormRequest struct {
	ToolID  string // the agent's id of the use of a tool that asks; "" if none does
	Message string
	Schema  json.RawMessage // of the form

	id json.RawMessage
}

// A Withdrawal reports that the agent does not wait for the answer to a PermissionRequest or a FormRequest any more.
type Withdrawal struct{ RequestID string }

func (FormRequest) message() {}
func (Withdrawal) message()  {}

// ID returns the id of the request.
func (r FormRequest) ID() string { return string(r.id) }

// ID returns the id of the request.
func (r PermissionRequest) ID() string { return string(r.id) }

// formRequestOf decodes a request to fill in a form. It dismisses one of another session, and one that is no form.
func (c *Client) formRequestOf(m jsonrpc.Message) (FormRequest, bool) {
	var params struct {
		SessionID sdk.SessionId   `json:"sessionId"`
		Mode      string          `json:"mode"`
		ToolID    string          `json:"toolCallId"`
		Message   string          `json:"message"`
		Schema    json.RawMessage `json:"requestedSchema"`
	}
	r := FormRequest{id: m.ID}
	if !jsonlines.Decode(m.Params, &params) || params.SessionID != c.session || params.Mode != "form" {
		c.DismissForm(r)
		return r, false
	}
	r.ToolID, r.Message, r.Schema = params.ToolID, params.Message, params.Schema
	return r, true
}

// AnswerForm answers a request: with an action and the content of the form. It may be called concurrently with other
// methods.
func (c *Client) AnswerForm(r FormRequest, response map[string]any) { c.conn.Respond(r.id, response) }

// DismissForm answers a request without a decision. It may be called concurrently with other methods.
func (c *Client) DismissForm(r FormRequest) { c.AnswerForm(r, map[string]any{"action": "cancel"}) }

// withdrawalOf decodes a notification that a request is cancelled.
func withdrawalOf(m jsonrpc.Message) Withdrawal {
	var params struct {
		ID json.RawMessage `json:"requestId"`
	}
	jsonlines.Decode(m.Params, &params)
	return Withdrawal{string(bytes.TrimSpace(params.ID))}
}
