package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/agent-chatter/agent-chatter/coordinator/agent/jsonlines"
	"github.com/agent-chatter/agent-chatter/coordinator/agent/process"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// ErrExited is returned when the program has closed its standard output, normally by exiting.
var ErrExited = errors.New("the agent has exited")

// errNotReading is returned when the program sends requests and does not read the responses.
var errNotReading = errors.New("it does not read what it is sent")

// A Conn is the connection to a program. Its methods must not be called concurrently, except those that send.
type Conn struct {
	// Process is the program. The caller supervises it, and must not receive from its Texts.
	Process *process.Process
	// Version is the version in every message that is sent; "" is none.
	Version string
	// Inbox has the messages that were received, and not yet returned by Receive.
	Inbox []Message
	// Outbox has the lines that were sent, and not yet written.
	Outbox *jsonlines.Outbox

	lines    jsonlines.Splitter
	unparsed string
	requests atomic.Int64 // the id of the last request
}

// New returns a connection without a program.
func New(version string) *Conn { return &Conn{Version: version, Outbox: jsonlines.NewOutbox()} }

// Start starts a program. Errors are *process.StartErrors.
func Start(program process.Program, version string) (*Conn, error) {
	c := New(version)
	p, err := process.Start(program, c.Outbox.Deliver)
	if err != nil {
		return nil, err
	}
	c.Process = p
	return c, nil
}

// Close closes the program's standard input after everything was sent.
func (c *Conn) Close() { c.Outbox.Close() }

// Unparsed returns the first line that was not a message, or "". At most 4 KiB of it are kept.
func (c *Conn) Unparsed() string { return c.unparsed }

// Call sends a request, waits for the response and decodes its result. It refuses the requests that the program sends
// meanwhile, and passes the other messages to other, which may be nil. Errors are those of Receive, and *Errors.
func (c *Conn) Call(ctx context.Context, method string, params, result any, other func(Message)) error {
	id := c.Request(method, params)
	for {
		m, err := c.Receive(ctx)
		switch {
		case err != nil:
			return err
		case m.Responds(id):
			jsonlines.Decode(m.Result, result)
			if refused := m.Refusal(); refused != nil {
				return refused
			}
			return nil
		case m.IsRequest():
			c.Refuse(m)
		case other != nil:
			other(m)
		}
	}
}

// Request sends a request and returns its id.
func (c *Conn) Request(method string, params any) (id string) {
	id = strconv.FormatInt(c.requests.Add(1), 10)
	c.send(Message{ID: json.RawMessage(id), Method: method, Params: Encode(params)})
	return id
}

// Notify sends a notification.
func (c *Conn) Notify(method string, params any) {
	c.send(Message{Method: method, Params: Encode(params)})
}

// Respond sends the result of a request of the program.
func (c *Conn) Respond(id json.RawMessage, result any) {
	c.send(Message{ID: id, Result: Encode(result)})
}

// RespondError responds to a request of the program with an error; nil data is none.
func (c *Conn) RespondError(id json.RawMessage, code int, reason string, data any) {
	e := map[string]any{"code": code, "message": reason}
	if data != nil {
		e["data"] = data
	}
	c.send(Message{ID: id, Error: Encode(e)})
}

// codeMethodNotFound is the protocol's.
const codeMethodNotFound = -32601

// Refuse responds to a request that is not supported.
func (c *Conn) Refuse(m Message) {
	data := map[string]any{"method": runecut.Prefix(m.Method, maxID)}
	c.RespondError(m.ID, codeMethodNotFound, "Method not found", data)
}

func (c *Conn) send(m Message) {
	m.JSONRPC = c.Version
	c.Outbox.Put(append(Encode(m), '\n'))
}

// Encode returns the JSON of a value that consists of strings, numbers, lists and objects.
func Encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("cannot encode %T: %v", value, err))
	}
	return text
}

// Receive waits for the next message of the program. Errors are ErrExited, jsonlines.ErrTooLong, the cause of ctx, and
// one for a program that sends requests and does not read the responses.
func (c *Conn) Receive(ctx context.Context) (m Message, err error) {
	for len(c.Inbox) == 0 {
		switch {
		case c.lines.TooLong():
			return m, jsonlines.ErrTooLong
		case c.Outbox.Overflowed():
			return m, errNotReading
		}
		select {
		case text, open := <-c.Process.Texts():
			if !open {
				return m, ErrExited
			}
			c.lines.Take(text, c.Take)
		case <-ctx.Done():
			return m, context.Cause(ctx)
		}
	}
	m, c.Inbox = c.Inbox[0], c.Inbox[1:]
	return m, nil
}

// Take takes a line that the program has printed. It returns true.
func (c *Conn) Take(line []byte) bool {
	if line = bytes.TrimSpace(line); len(line) == 0 {
		return true
	}
	found := false
	for object := range jsonlines.Objects(line) {
		var m Message
		if json.Unmarshal(object, &m) == nil && (m.Method != "" || m.ID != nil) {
			c.Inbox, found = append(c.Inbox, m), true
		}
	}
	if !found && c.unparsed == "" {
		c.unparsed = string(excerpt(line))
	}
	return true
}

// excerpt returns the beginning of a line, for an error message.
func excerpt(line []byte) []byte { return runecut.Prefix(line, 4<<10) }
