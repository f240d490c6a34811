package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/jsonrpc"
)

// maxMessage is the length of the longest message that is passed on, in bytes. The SDK reads 10 MiB.
const maxMessage = 10_000_000

// maxRequests is how many requests of the client may be in flight, and maxBytes how long they may be together.
const (
	maxRequests = 64
	maxBytes    = 3 * maxMessage
)

// grace is how long one write may take at the end: a client that does not read is left then.
const grace = 2 * time.Second

// methodCancelRequest cancels one request. The SDK does not export the name.
const methodCancelRequest = "$/cancel_request"

// The causes of the contexts of prompts.
var (
	errCanceled = errors.New("the client canceled it")
	errEnded    = errors.New("the client ended the connection")
)

// A wireUser learns what passes a wire. Its methods must not write.
type wireUser interface {
	answered(line []byte)    // a response of the SDK, after it was written
	canceled(session string) // what runs in a session
}

// A wire is the reader and the writer of an SDK connection.
type wire struct {
	conn *jsonrpc.Conn
	out  *output
	log  *slog.Logger

	of wireUser

	passed *io.PipeReader // what the SDK reads
	pass   *io.PipeWriter

	mu      sync.Mutex
	prompts map[string]prompt // that run, by session
	ending  bool              // no request is passed on any more
}

// A prompt is a request that was passed on and is not answered.
type prompt struct {
	id     jsonrpc.ID
	ctx    context.Context
	cancel context.CancelCauseFunc
}

// newWire returns a wire that reads from and writes to a client.
func newWire(in io.Reader, out io.Writer, log *slog.Logger, of wireUser) *wire {
	w := &wire{log: log, of: of, prompts: map[string]prompt{}}
	w.out = newOutput(out, func() { w.conn.Close() })
	w.conn = jsonrpc.New(in, w.out, jsonrpc.Options{
		MaxLine: maxMessage + 1, MaxRequests: maxRequests, MaxBytes: maxBytes,
		Remedy: "attach a link to the file instead of its text",
	})
	w.passed, w.pass = io.Pipe()
	return w
}

// Read implements io.Reader for the SDK.
func (w *wire) Read(p []byte) (int, error) { return w.passed.Read(p) }

// Write implements io.Writer for the SDK, which writes one message at a time.
func (w *wire) Write(message []byte) (int, error) {
	line := bytes.TrimSuffix(message, []byte("\n"))
	m, refusal := jsonrpc.Parse(line)
	isAnswer := refusal == nil && m.Method == ""
	if isAnswer {
		w.finish(m.ID)
	}
	if err := w.conn.Write(line); err != nil {
		return 0, err
	}
	if isAnswer {
		w.of.answered(line)
	}
	return len(message), nil
}

// finish ends a prompt that is answered. The client may send the next prompt as soon as it has the answer.
func (w *wire) finish(id jsonrpc.ID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for session, p := range w.prompts {
		if p.id == id {
			p.cancel(nil)
			delete(w.prompts, session)
		}
	}
}

// Prompt returns the context of the prompt of a session that was passed on. Its cause is errCanceled or errEnded.
func (w *wire) Prompt(session string) context.Context {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.prompts[session]; ok {
		return p.ctx
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errCanceled)
	return ctx
}

// Cancel cancels the prompt of a session, if there is one.
func (w *wire) Cancel(session string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p, ok := w.prompts[session]; ok {
		p.cancel(errCanceled)
	}
}

// Run passes on messages until the client has sent the last one, cannot be written to, or ctx is done. It returns when
// everything that was passed on has been answered, and the SDK reads the end then.
func (w *wire) Run(ctx context.Context) {
	read := make(chan error, 1)
	go func() { read <- w.read() }()
	var reason error
	select {
	case reason = <-read:
	case reason = <-w.out.failed:
	case <-ctx.Done():
		reason = context.Cause(ctx)
		w.pass.Close() // which cancels the other requests, too
	}
	w.log.Info("connection of the editor ends", "reason", reason.Error())
	w.end()
	<-w.conn.Idle()
	w.pass.Close()
	w.conn.Close()
}

// end cancels the prompts that run and lets no other begin.
func (w *wire) end() {
	w.mu.Lock()
	w.ending = true
	for _, p := range w.prompts {
		p.cancel(errEnded)
	}
	w.mu.Unlock()
	w.out.end()
}

// read passes on messages. The error is io.EOF at the end of the input.
func (w *wire) read() error {
	for {
		m, err := w.conn.Read()
		if err != nil {
			return err
		}
		refusal := w.take(m)
		if refusal == "" {
			continue
		}
		answer := jsonrpc.Error{ID: m.ID, Code: jsonrpc.InvalidRequest, Message: refusal}
		if err := w.conn.Write(answer.Line()); err != nil {
			return err
		}
	}
}

// take handles a message or passes it on. It returns why a request is refused; "" if it is not.
func (w *wire) take(m jsonrpc.Message) (refusal string) {
	isRequest := m.ID != jsonrpc.ID{} && m.Method != ""
	switch {
	case m.Method == sdk.AgentMethodSessionPrompt && isRequest:
		refusal = w.begin(m)
	case m.Method == sdk.AgentMethodSessionCancel && !isRequest:
		session := sessionOf(m)
		w.Cancel(session)
		w.of.canceled(session)
		return ""
	case m.Method == methodCancelRequest && !isRequest:
		if w.cancelRequest(m) {
			return ""
		}
	case m.Method != "" && !isRequest: // the SDK ends the connection when too many wait
		w.log.Debug("notification ignored", "method", m.Method)
		return ""
	case isRequest:
		refusal = w.refuseAtEnd()
	}
	if refusal != "" {
		return refusal
	}
	if _, err := w.pass.Write(append(m.Line[:len(m.Line):len(m.Line)], '\n')); err != nil && isRequest {
		return textEnding
	}
	return ""
}

const textEnding = "the agent ends"

func (w *wire) refuseAtEnd() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending {
		return textEnding
	}
	return ""
}

// begin notes that a prompt runs, or returns why it must not.
func (w *wire) begin(m jsonrpc.Message) (refusal string) {
	session := sessionOf(m)
	w.mu.Lock()
	defer w.mu.Unlock()
	_, runs := w.prompts[session]
	switch {
	case w.ending:
		return textEnding
	case runs:
		return fmt.Sprintf("a prompt runs in session %.40q: wait for its answer, or cancel it", session)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	w.prompts[session] = prompt{m.ID, ctx, cancel}
	return ""
}

// cancelRequest cancels the prompt that a $/cancel_request names. It returns false if that names another request.
func (w *wire) cancelRequest(m jsonrpc.Message) bool {
	var request struct {
		Params struct{ RequestID json.RawMessage }
	}
	_ = json.Unmarshal(m.Line, &request) // otherwise it names none
	id, err := jsonrpc.ParseID(request.Params.RequestID)
	if err != nil {
		return true // of no request
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.prompts {
		if p.id == id {
			p.cancel(errCanceled)
			return true
		}
	}
	return false
}

// sessionOf returns the session that the params of a message name; "" if they name none.
func sessionOf(m jsonrpc.Message) string {
	var message struct {
		Params struct {
			SessionID string `json:"sessionId"`
		}
	}
	_ = json.Unmarshal(m.Line, &message)
	return message.Params.SessionID
}
