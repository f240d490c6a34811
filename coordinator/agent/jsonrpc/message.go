package jsonrpc

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
)

// maxID is the length in bytes of the longest id of a request that is answered.
const maxID = 1 << 10

// A Message is a request, a notification or a response. The two sides number their requests independently.
type Message struct {
	JSONRPC string          `json:"jsonrpc,omitempty"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

// IsRequest reports whether the message expects a response.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil && len(m.ID) <= maxID }

// Responds reports whether the message is the response to the request of that id. A program that
// could not read a request does not know its id; only one request waits at a time.
func (m Message) Responds(id string) bool {
	return m.Method == "" && (string(m.ID) == id || string(m.ID) == "null" && m.Refusal() != nil)
}

// An Error is the program's refusal of a request.
type Error struct {
	Code    int
	Message string // in the program's words
	Reason  string // what its data say; ""
}

func (e *Error) Error() string {
	if e.Reason != "" && !strings.Contains(e.Message, e.Reason) {
		return e.Message + ": " + e.Reason
	}
	return e.Message
}

// Refusal returns the error of a response; nil if the request succeeded.
func (m Message) Refusal() *Error {
	if len(m.Error) == 0 || string(m.Error) == "null" {
		return nil
	}
	var e struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data"`
	}
	jsonlines.Decode(m.Error, &e)
	return &Error{Code: e.Code, Message: cmp.Or(e.Message, string(excerpt(m.Error))), Reason: reasonIn(e.Data)}
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
