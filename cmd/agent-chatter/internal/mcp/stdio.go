package mcp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	rpc "github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/jsonrpc"
	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// The bounds of a connection over standard input and output.
const (
	maxLine   = 1 << 20         // bytes of a message: the longest arguments take a few thousand
	drainTime = 5 * time.Second // for the requests that are in flight when the input ends
	endTime   = 2 * time.Second // for the server to end; then the program ends without it
)

// serveStreams serves the client of two streams until it closes the input, or ctx is done.
func serveStreams(ctx context.Context, s *sdk.Server, in io.Reader, out io.Writer) error {
	conn := jsonrpc.New(in, out, jsonrpc.Options{MaxLine: maxLine})
	defer conn.Close()
	if f, ok := in.(*os.File); ok {
		go tty.WatchWriter(ctx, f.Fd(), func() { conn.Hurry(endTime) })
	}
	c := &connection{
		conn: conn, messages: make(chan rpc.Message), drained: make(chan struct{}), closed: make(chan struct{}),
	}
	go c.read()
	ended := make(chan error, 1)
	go func() { ended <- s.Run(context.Background(), transport{c}) }()
	select {
	case err := <-ended:
		return c.result(err)
	case <-c.drained: // the SDK cancels what still runs
		select {
		case err := <-ended:
			return c.result(err)
		case <-time.After(endTime):
			return nil
		}
	case <-ctx.Done():
	}
	// A client that does not read must not keep the program from ending.
	conn.Close()
	c.Close()
	select {
	case <-ended:
	case <-time.After(endTime):
	}
	return nil
}

// A transport connects the server with a connection.
type transport struct{ c *connection }

func (t transport) Connect(context.Context) (sdk.Connection, error) { return t.c, nil }

// A connection passes messages between a client and the SDK, which ends a connection at the first message that it
// cannot read.
type connection struct {
	conn     *jsonrpc.Conn
	messages chan rpc.Message // closed with drained
	drained  chan struct{}    // closed when the input has ended, and its requests are answered or drainTime is over
	err      error            // of the input; set before messages is closed
	gone     atomic.Bool      // a message could not be written
	once     sync.Once
	closed   chan struct{}
}

// read reads messages until the input ends and the requests in it are answered.
func (c *connection) read() {
	defer close(c.drained)
	defer close(c.messages)
	for {
		m, err := c.conn.Read()
		if err != nil {
			c.err = err
			break
		}
		message, err := rpc.DecodeMessage(bytes.Clone(m.Line))
		if err != nil {
			refusal := jsonrpc.Error{ID: m.ID, Code: jsonrpc.InvalidRequest, Message: "the message cannot be read"}
			if c.err = c.conn.Write(refusal.Line()); c.err != nil {
				return
			}
			continue
		}
		select {
		case c.messages <- message:
		case <-c.closed:
			return
		}
	}
	// The SDK cancels the requests in flight when it knows that the input has ended.
	select {
	case <-c.conn.Idle():
	case <-c.closed:
	case <-time.After(drainTime):
	}
}

// result returns the error of the program for that with which the server ended.
func (c *connection) result(err error) error {
	if c.gone.Load() || errors.Is(err, jsonrpc.ErrClosed) {
		return nil // the client has left
	}
	return err
}

// Read implements sdk.Connection.
func (c *connection) Read(ctx context.Context) (rpc.Message, error) {
	select {
	case message, ok := <-c.messages:
		if !ok {
			return nil, c.err
		}
		return message, nil
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements sdk.Connection.
func (c *connection) Write(_ context.Context, message rpc.Message) error {
	line, err := rpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	err = c.conn.Write(line)
	if err != nil {
		c.gone.Store(true)
	}
	return err
}

// Close implements sdk.Connection.
func (c *connection) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID implements sdk.Connection.
func (c *connection) SessionID() string { return "" }
