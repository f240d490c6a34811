package jsonrpc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"
)

// The codes of errors that a Conn answers with.
const (
	parseError     = -32700
	InvalidRequest = -32600
	tooMany        = -32000 // requests in flight
)

// A Message is a request, a notification or a response.
type Message struct {
	Line   []byte // valid until the next Read
	ID     ID     // of a request or a response; zero: a notification
	Method string // "": a response
}

// An ID identifies a request. Equal ids are equal as Go values. The zero ID is none.
type ID struct{ json string }

// maxID is the length of the longest id, in bytes.
const maxID = 256

// integer is what an id that is a number looks like: all programs read these alike.
var integer = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:0|-?[1-9][0-9]{0,14})$`)
})

// ParseID returns the id in a message.
func ParseID(text []byte) (ID, error) {
	var name string
	switch {
	case len(text) == 0:
		return ID{}, fmt.Errorf("the id is missing")
	case len(text) > maxID:
		return ID{}, fmt.Errorf("the id is longer than %d bytes", maxID)
	case integer().Match(text):
		return ID{string(text)}, nil
	case text[0] == '"' && json.Unmarshal(text, &name) == nil:
		spelled, _ := json.Marshal(name) // one spelling of each string
		return ID{string(spelled)}, nil
	}
	return ID{}, fmt.Errorf("the id is neither a string nor an integer")
}

// fields are the members of a message.
var fields = []string{"jsonrpc", "id", "method", "params", "result", "error"}

// Parse reads a message, strictly: members that another reader could take for something else are an error.
func Parse(line []byte) (Message, *Error) {
	if !utf8.Valid(line) || !json.Valid(line) {
		return Message{}, &Error{Code: parseError, Message: "the line is not JSON"}
	}
	values, err := members(line)
	if err != nil {
		return Message{}, &Error{Code: InvalidRequest, Message: err.Error()}
	}
	m := Message{Line: line}
	method, called := values["method"]
	_, result := values["result"]
	_, failure := values["error"]
	response := !called && (result || failure)
	refuse := func(reason string) (Message, *Error) {
		return Message{}, &Error{ID: m.ID, Code: InvalidRequest, Message: reason, Response: response}
	}
	if id, ok := values["id"]; ok {
		if m.ID, err = ParseID(id); err != nil {
			return refuse(err.Error())
		}
	}
	if called && (json.Unmarshal(method, &m.Method) != nil || m.Method == "") {
		return refuse("the method is not a name")
	}
	params := bytes.TrimSpace(values["params"])
	switch {
	case string(values["jsonrpc"]) != `"2.0"`:
		return refuse(`"jsonrpc" is not "2.0"`)
	case m.Method != "" && (result || failure):
		return refuse("the message is both a request and a response")
	case m.Method == "" && (m.ID == ID{}):
		return refuse("the message has no method")
	case m.Method == "" && result == failure:
		return refuse("the message has no method, and not one of result and error")
	case len(params) > 0 && params[0] != '{' && params[0] != '[':
		return refuse("the params are neither an object nor an array")
	}
	return m, nil
}

// members returns the members of an object that a message may have.
func members(line []byte) (map[string]json.RawMessage, error) {
	switch trimmed := bytes.TrimSpace(line); {
	case trimmed[0] == '[':
		return nil, fmt.Errorf("batches are not supported: send each message in a line of its own")
	case trimmed[0] != '{':
		return nil, fmt.Errorf("the message is not an object")
	}
	decoder := json.NewDecoder(bytes.NewReader(line))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	values := map[string]json.RawMessage{}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		for _, field := range fields {
			if !strings.EqualFold(field, key.(string)) {
				continue
			}
			if _, repeated := values[field]; repeated || field != key {
				return nil, fmt.Errorf("the message has more than one %q, or one in capitals", field)
			}
			values[field] = value
		}
	}
	return values, nil
}

// maxHead is how many bytes of a line that is too long are read.
const maxHead = 64 << 10

// head returns the id at the beginning of a line that is too long, and whether the line is a response; the zero ID if
// the id does not precede the long part.
func head(line []byte) (id ID, response bool) {
	decoder := json.NewDecoder(bytes.NewReader(line[:min(len(line), maxHead)]))
	if open, err := decoder.Token(); err != nil || open != json.Delim('{') {
		return ID{}, false
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			break
		}
		if key == "result" || key == "error" {
			return id, id != ID{}
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			break
		}
		if key == "id" {
			id, _ = ParseID(value)
		}
	}
	return id, false
}

// An Error is the answer to a line that is not passed on.
type Error struct {
	ID       ID // zero: unknown
	Code     int
	Message  string
	Response bool // the line is a response, which has no answer: two servers could exchange errors without end
}

func (e *Error) Error() string { return e.Message }

// Line returns the message that answers.
func (e *Error) Line() []byte {
	type failure struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	}
	id := json.RawMessage("null")
	if (e.ID != ID{}) {
		id = json.RawMessage(e.ID.json)
	}
	line, _ := json.Marshal(struct { // cannot fail: an ID is JSON
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   failure         `json:"error"`
	}{"2.0", id, failure{e.Code, e.Message}})
	return line
}
