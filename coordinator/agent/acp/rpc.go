package acp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// ErrExited is returned when the agent has closed its standard output, normally by exiting.
var ErrExited = errors.New("the agent has exited")

// errNotReading is returned when the agent sends requests and does not read the responses.
var errNotReading = errors.New("it does not read what it is sent")

// jsonRPC is the version in every message.
const jsonRPC = "2.0"

// maxID is the length in bytes of the longest id of a request that is answered.
const maxID = 1 << 10

// A RequestError is the agent's refusal of a request.
type RequestError struct {
	Message      string // in the agent's words
	AuthRequired bool   // the user has to log in
}

func (e *RequestError) Error() string { return e.Message }

// An rpcMessage is a request, a notification or a response. The two sides number their requests
// independently.
type rpcMessage struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// isRequest reports whether the message expects a response.
func (m rpcMessage) isRequest() bool { return m.Method != "" && m.ID != nil && len(m.ID) <= maxID }

// responds reports whether the message is the response to the request of that id. An agent that
// could not read a request does not know its id; only one request waits at a time.
func (m rpcMessage) responds(id string) bool {
	return m.Method == "" && (string(m.ID) == id || string(m.ID) == "null" && m.refusal() != nil)
}

// refusal returns the *RequestError of a response; nil if the request succeeded.
func (m rpcMessage) refusal() error {
	if len(m.Error) == 0 || string(m.Error) == "null" {
		return nil
	}
	var e sdk.RequestError
	jsonlines.Decode(m.Error, &e)
	message := cmp.Or(e.Message, string(excerpt(m.Error)))
	if more := reasonIn(e.Data); more != "" && !strings.Contains(message, more) && e.Code != codeAuthRequired {
		message += ": " + more
	}
	return &RequestError{Message: message, AuthRequired: e.Code == codeAuthRequired}
}

// reasonIn returns the reason that the data of an error has; "" if it has none. Agents pass on the errors of APIs, in
// which it is at different places.
func reasonIn(data any) string {
	switch data := data.(type) {
	case string:
		return strings.TrimSpace(data)
	case map[string]any:
		for _, key := range []string{"details", "message", "error", "detail", "reason", "cause"} {
			if reason := reasonIn(data[key]); reason != "" {
				return reason
			}
		}
	}
	return ""
}

// codeAuthRequired is the protocol's error code for an agent that is not logged in.
const codeAuthRequired = -32000

// call sends a request, waits for the response and decodes its result. It drops everything else
// that the agent sends meanwhile, but notes the mode that it reports. Errors are those of receive, and *RequestErrors.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	id := c.request(method, params)
	for {
		m, err := c.receive(ctx)
		switch {
		case err != nil:
			return err
		case m.responds(id):
			jsonlines.Decode(m.Result, result)
			return m.refusal()
		case m.isRequest():
			c.refuse(m)
		default:
			c.noteMode(m)
		}
	}
}

// request sends a request and returns its id.
func (c *Client) request(method string, params any) (id string) {
	c.requests++
	id = strconv.FormatInt(c.requests, 10)
	c.send(rpcMessage{ID: json.RawMessage(id), Method: method, Params: encode(params)})
	return id
}

// respond sends the result of a request of the agent.
func (c *Client) respond(id json.RawMessage, result any) {
	c.send(rpcMessage{ID: id, Result: encode(result)})
}

// refuse responds to a request that the client does not support.
func (c *Client) refuse(m rpcMessage) {
	c.send(rpcMessage{ID: m.ID, Error: encode(sdk.NewMethodNotFound(runecut.Prefix(m.Method, maxID)))})
}

func (c *Client) send(m rpcMessage) {
	m.JSONRPC = jsonRPC
	c.outbox.Put(append(encode(m), '\n'))
}

// encode returns the JSON of a value that consists of strings, numbers, lists and objects.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("cannot encode %T: %v", value, err))
	}
	return text
}

// receive waits for the next message of the agent. Errors are ErrExited, errNotReading,
// jsonlines.ErrTooLong, and the cause of ctx.
func (c *Client) receive(ctx context.Context) (m rpcMessage, err error) {
	for len(c.inbox) == 0 {
		switch {
		case c.lines.TooLong():
			return m, jsonlines.ErrTooLong
		case c.outbox.Overflowed():
			return m, errNotReading
		}
		select {
		case text, open := <-c.Process.Texts():
			if !open {
				return m, ErrExited
			}
			c.lines.Take(text, c.takeLine)
		case <-ctx.Done():
			return m, context.Cause(ctx)
		}
	}
	m, c.inbox = c.inbox[0], c.inbox[1:]
	return m, nil
}

func (c *Client) takeLine(line []byte) bool {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return true
	}
	found := false
	for object := range jsonlines.Objects(line) {
		var m rpcMessage
		if json.Unmarshal(object, &m) == nil && (m.Method != "" || m.ID != nil) {
			c.inbox, found = append(c.inbox, m), true
		}
	}
	if !found && c.unparsed == "" {
		c.unparsed = string(excerpt(line))
	}
	return true
}

// excerpt returns the beginning of a line, for an error message.
func excerpt(line []byte) []byte { return runecut.Prefix(line, 4<<10) }
