package jsonrpc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// The defaults of Options.
const (
	maxLine     = 32 << 20
	MaxRequests = 32
)

// Options bound a Conn. The zero Options are the defaults.
type Options struct {
	MaxLine     int // bytes of a message that is read, the newline included
	MaxRequests int // of the client that are not answered
	MaxBytes    int // of these requests; 0: any

	Remedy string // what helps with a message that is too long; "": none
}

// ErrClosed is returned by Write after Close.
var ErrClosed = errors.New("the connection is closed")

// A Conn is a connection to a client.
type Conn struct {
	lines       *lines.Reader
	maxRequests int
	maxBytes    int    // 0: any
	remedy      string // "": none

	out    chan outgoing
	began  atomic.Int64 // when the write that runs began, in nanoseconds of Unix time; 0: none runs
	closed chan struct{}
	once   sync.Once

	mu       sync.Mutex
	inFlight map[ID]int    // the length of the request
	open     int           // requests whose answers are not written
	bytes    int           // of these
	idle     chan struct{} // closed when nothing is in flight; nil: no goroutine waits
}

// outgoing is a line to write. The result of writing it is sent to written, which has room for it.
type outgoing struct {
	line    []byte
	written chan error
}

// New returns a connection that reads messages from in and writes messages to out.
func New(in io.Reader, out io.Writer, o Options) *Conn {
	if o.MaxLine == 0 {
		o.MaxLine = maxLine
	}
	if o.MaxRequests == 0 {
		o.MaxRequests = MaxRequests
	}
	c := &Conn{
		lines: lines.NewReader(in, o.MaxLine), maxRequests: o.MaxRequests,
		out: make(chan outgoing), closed: make(chan struct{}), inFlight: map[ID]int{},
		maxBytes: o.MaxBytes, remedy: o.Remedy,
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
				c.began.Store(time.Now().UnixNano())
				_, failed = out.Write(o.line)
				c.began.Store(0)
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

// tooLong discards a line that is longer than the limit. The beginning says what it is: a request is answered, and in
// place of a response, for which the server waits, an error is passed on.
func (c *Conn) tooLong() (Message, *Error, error) {
	id, response := head(c.lines.Rest())
	n, err := c.lines.Skip(nil)
	if err != nil && err != io.EOF {
		return Message{}, nil, err
	}
	text := fmt.Sprintf("the line has %d bytes, more than the limit of %d: it was not read", n, c.lines.Limit())
	if c.remedy != "" {
		text += "; " + c.remedy
	}
	refusal := &Error{ID: id, Code: InvalidRequest, Message: text}
	if response {
		m, refusal := Parse(refusal.Line())
		return m, refusal, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.inFlight[id]; used {
		refusal.ID = ID{}
	}
	return Message{}, refusal, nil
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
	_, used := c.inFlight[m.ID]
	switch {
	case used: // an answer with the id would be taken for that of the other request
		return &Error{Code: InvalidRequest, Message: fmt.Sprintf("the id %s is in use", m.ID.json)}
	case c.maxBytes > 0 && c.open > 0 && c.bytes+len(m.Line) > c.maxBytes:
		return &Error{ID: m.ID, Code: tooMany, Message: fmt.Sprintf(
			"requests of %d bytes are in flight: wait for an answer", c.bytes)}
	case c.open >= c.maxRequests:
		return &Error{ID: m.ID, Code: tooMany, Message: fmt.Sprintf(
			"%d requests are in flight: wait for an answer", c.open)}
	}
	c.inFlight[m.ID] = len(m.Line)
	c.open++
	c.bytes += len(m.Line)
	return nil
}

// Write writes a message, without its newline. It returns when the system has the message, or after Close.
func (c *Conn) Write(line []byte) error {
	if m, refusal := Parse(line); refusal == nil && m.Method == "" {
		if size, found := c.answered(m.ID); found {
			defer c.end(size)
		}
	}
	return c.send(line)
}

// answered notes that a request gets its answer: the client may use its id as soon as it has that. It returns the
// length of the request, and false if there is none.
func (c *Conn) answered(id ID) (size int, found bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size, found = c.inFlight[id]
	delete(c.inFlight, id)
	return size, found
}

// end notes that an answer was written. Until then its request is in flight: a client that does not read must not
// make answers pile up.
func (c *Conn) end(size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes -= size
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

// Hurry closes the connection as soon as a write takes longer than grace. It is for a client that has closed its end
// of the input: Read may not notice that, because it waits until the client reads an answer.
func (c *Conn) Hurry(grace time.Duration) {
	tick := time.NewTicker(grace / 4)
	defer tick.Stop()
	for {
		select {
		case <-c.closed:
			return
		case now := <-tick.C:
			if began := c.began.Load(); began > 0 && now.Sub(time.Unix(0, began)) > grace {
				c.Close()
			}
		}
	}
}

// Close ends all writes. It does not close the streams.
func (c *Conn) Close() { c.once.Do(func() { close(c.closed) }) }
