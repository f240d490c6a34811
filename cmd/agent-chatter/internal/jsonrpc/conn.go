package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// The defaults of Options.
const (
	MaxLine     = 32 << 20
	MaxRequests = 32
)

// Options bound a Conn. The zero Options are the defaults.
type Options struct {
	MaxLine     int // bytes of a message that is read, the newline included
	MaxRequests int // of the client that are not answered
}

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("the connection is closed")

// A Conn is a connection to a client.
type Conn struct {
	lines       *lines.Reader
	maxRequests int

	out    chan outgoing
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	inFlight map[ID]bool
	open     int           // requests whose answers are not written
	idle     chan struct{} // closed when nothing is in flight; nil: nobody waits
}

// outgoing is a line to write. The result of writing it is sent to written, which has room for it.
type outgoing struct {
	line    []byte
	written chan error
}

// New returns a connection that reads messages from in and writes messages to out.
func New(in io.Reader, out io.Writer, o Options) *Conn {
	if o.MaxLine == 0 {
		o.MaxLine = MaxLine
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = MaxRequests
	}
	c := &Conn{
		lines: lines.NewReader(in, o.MaxLine), maxRequests: o.MaxRequests,
		out: make(chan outgoing), closed: make(chan struct{}), inFlight: map[ID]bool{},
	}
	go c.write(out)
	return c
}

// write writes lines until Close, or until one cannot be written: then all writes fail.
func (c *Conn) write(out io.Writer) {
	var failed error
	for {
		select {
		case o := <-c.out:
			if failed == nil {
				_, failed = out.Write(o.line)
			}
			o.written <- failed
		case <-c.closed:
			return
		}
	}
}

// Read returns the next message. A line that is none, or that must be refused, is answered, and the next one read.
// io.EOF: the client sends no more. Other errors are those of the stream and of Write.
func (c *Conn) Read() (Message, error) {
	for {
		m, refusal, err := c.next()
		if err != nil {
			return Message{}, err
		}
		if refusal == nil {
			return m, nil
		}
		if refusal.Response {
			continue
		}
		if err := c.send(refusal.Line()); err != nil {
			return Message{}, err
		}
	}
}

// next returns the next message, or the answer to the next line.
func (c *Conn) next() (Message, *Error, error) {
	line, err := c.lines.Next()
	for err == nil && blank(line) {
		line, err = c.lines.Next()
	}
	switch {
	case errors.Is(err, lines.ErrTooLong):
		return c.tooLong()
	case err == io.EOF && !blank(c.lines.Rest()): // the last line has no newline
		line = bytes.Clone(c.lines.Rest())
		if _, err := c.lines.Skip(nil); err != nil && err != io.EOF {
			return Message{}, nil, err
		}
	case err != nil:
		return Message{}, nil, err
	}
	m, refusal := Parse(line)
	if refusal == nil && m.Method != "" && (m.ID != ID{}) {
		refusal = c.begin(m)
	}
	return m, refusal, nil
}

// tooLong discards a line that is longer than the limit.
func (c *Conn) tooLong() (Message, *Error, error) {
	n, err := c.lines.Skip(nil)
	if err != nil && err != io.EOF {
		return Message{}, nil, err
	}
	return Message{}, &Error{Code: InvalidRequest, Message: fmt.Sprintf(
		"the line has %d bytes, more than the limit of %d: it was not read", n, c.lines.Limit())}, nil
}

func blank(line []byte) bool {
	for _, b := range line {
		if b != ' ' && b != '\t' && b != '\r' {
			return false
		}
	}
	return true
}

// begin notes that a request is in flight, or refuses it.
func (c *Conn) begin(m Message) *Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inFlight[m.ID]: // an answer with the id would be taken for that of the other request
		return &Error{Code: InvalidRequest, Message: fmt.Sprintf("the id %s is in use", m.ID.json)}
	case c.open >= c.maxRequests:
		return &Error{ID: m.ID, Code: TooMany, Message: fmt.Sprintf(
			"%d requests are in flight: wait for an answer", c.open)}
	}
	c.inFlight[m.ID] = true
	c.open++
	return nil
}

// Write writes a message, without its newline. It returns when the system has the message, or after Close.
func (c *Conn) Write(line []byte) error {
	if m, refusal := Parse(line); refusal == nil && m.Method == "" && c.answered(m.ID) {
		defer c.end()
	}
	return c.send(line)
}

// answered notes that a request gets its answer: the client may use its id as soon as it has that. It reports
// whether there is such a request.
func (c *Conn) answered(id ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.inFlight[id]
	delete(c.inFlight, id)
	return found
}

// end notes that an answer was written. Until then its request is in flight: a client that does not read must not
// make answers pile up.
func (c *Conn) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open--; c.open == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

func (c *Conn) send(line []byte) error {
	o := outgoing{append(line[:len(line):len(line)], '\n'), make(chan error, 1)}
	select {
	case <-c.closed:
		return ErrClosed
	default:
	}
	select {
	case c.out <- o:
	case <-c.closed:
		return ErrClosed
	}
	select {
	case err := <-o.written:
		return err
	case <-c.closed:
		return ErrClosed
	}
}

// Idle returns a channel that is closed when every request that was read has its answer. One goroutine may wait.
func (c *Conn) Idle() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	idle := make(chan struct{})
	if c.open == 0 {
		close(idle)
		return idle
	}
	c.idle = idle
	return idle
}

// Close ends all writes. It does not close the streams.
func (c *Conn) Close() { c.once.Do(func() { close(c.closed) }) }
