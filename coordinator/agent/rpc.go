package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/coder/acp-go-sdk"
)

// A wire carries JSON-RPC 2.0 to and from a running program, an object a line.
//
// It is driven by whoever waits for something: nothing is read while nobody does, so that an
// agent is never further ahead of its consumer than its pipe is long. The connection of the
// SDK reads ahead instead, gives up where 1,024 notifications wait, and may lose the last
// answer of a program that ends behind it; only its types are used.
type wire struct {
	process *process
	mailbox *mailbox

	lines lineSplitter
	inbox []message // read, and not yet asked for
	noise string    // the first line that was no message
	asked int64     // the id of the last request
}

// A message is a request, a notification or an answer. Requests of the two sides are numbered
// independently.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

var (
	errHungUp  = errors.New("the agent has ended")
	errTooLong = fmt.Errorf("it printed a line of more than %d bytes", lineLimit)
)

// request sends a request, whose answer bears the id.
func (w *wire) request(method string, params any) (id string) {
	w.asked++
	id = fmt.Sprint(w.asked)
	w.send(message{ID: json.RawMessage(id), Method: method, Params: encode(params)})
	return id
}

// isAnswer reports whether a message answers the request of that id. An agent that could not read
// a request does not know its id, and one waits at a time.
func (m message) isAnswer(id string) bool {
	return m.Method == "" && (string(m.ID) == id || string(m.ID) == "null" && m.refusal() != nil)
}

// refusal is why an agent does not do what was requested, an *acp.RequestError; nil when it has.
func (m message) refusal() error {
	if len(m.Error) == 0 || string(m.Error) == "null" {
		return nil
	}
	var e acp.RequestError
	decode(m.Error, &e)
	e.Message = cmp.Or(e.Message, quote(string(m.Error)))
	return &e
}

// isRequest reports whether a message wants an answer.
func (m message) isRequest() bool { return m.Method != "" && m.ID != nil }

// call asks for something and waits for the answer. What else the agent says meanwhile is of
// no interest. Errors are those of next, and an *acp.RequestError.
func (w *wire) call(ctx context.Context, method string, params, result any) error {
	id := w.request(method, params)
	for {
		m, err := w.next(ctx)
		switch {
		case err != nil:
			return err
		case m.isAnswer(id):
			decode(m.Result, result)
			return m.refusal()
		case m.isRequest():
			w.refuse(m)
		}
	}
}

// notify sends what is not answered.
func (w *wire) notify(method string, params any) {
	w.send(message{Method: method, Params: encode(params)})
}

// answer answers a request of the agent.
func (w *wire) answer(id json.RawMessage, result any) {
	w.send(message{ID: id, Result: encode(result)})
}

// refuse answers a request for something that nobody here does.
func (w *wire) refuse(m message) {
	w.send(message{ID: m.ID, Error: encode(acp.NewMethodNotFound(m.Method))})
}

func (w *wire) send(m message) {
	m.JSONRPC = "2.0"
	w.mailbox.put(append(encode(m), '\n'))
}

// encode is the value in JSON. What is sent consists of texts, numbers and lists of them.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("%T cannot be sent: %v", value, err))
	}
	return text
}

// next waits for the next message of the agent. Errors are errHungUp, errTooLong, and the
// cause of ctx.
func (w *wire) next(ctx context.Context) (m message, err error) {
	for len(w.inbox) == 0 {
		if w.lines.tooLong {
			return m, errTooLong
		}
		select {
		case text, open := <-w.process.texts:
			if !open {
				return m, errHungUp
			}
			w.lines.take(text, w.take)
		case <-ctx.Done():
			return m, context.Cause(ctx)
		}
	}
	m, w.inbox = w.inbox[0], w.inbox[1:]
	return m, nil
}

// take takes in a line.
func (w *wire) take(line []byte) bool {
	var m message
	switch {
	case len(line) == 0 || string(line) == "\r":
	case json.Unmarshal(line, &m) == nil && (m.Method != "" || m.ID != nil):
		w.inbox = append(w.inbox, m)
	case w.noise == "":
		w.noise = quote(string(line))
	}
	return true
}

// A mailbox holds what is to be written to a program, which may read slowly or not at all:
// whoever puts something into it does not wait.
type mailbox struct {
	mu     sync.Mutex
	held   [][]byte
	closed bool
	news   chan struct{} // has a token when something has changed
}

func newMailbox() *mailbox { return &mailbox{news: make(chan struct{}, 1)} }

func (b *mailbox) put(letter []byte) { b.change(func() { b.held = append(b.held, letter) }) }

// close lets deliver return when everything is written.
func (b *mailbox) close() { b.change(func() { b.closed = true }) }

func (b *mailbox) change(do func()) {
	b.mu.Lock()
	do()
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// deliver writes what is put into the box, until it is closed or to cannot be written to.
func (b *mailbox) deliver(to io.Writer) {
	for range b.news {
		letters, closed := b.empty()
		for _, letter := range letters {
			if _, err := to.Write(letter); err != nil {
				return
			}
		}
		if closed {
			return
		}
	}
}

func (b *mailbox) empty() (letters [][]byte, closed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	letters, b.held = b.held, nil
	return letters, b.closed
}
