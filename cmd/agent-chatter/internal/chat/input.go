package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// messages is the input of somebody who gave them on the command line.
type messages struct{ rest []string }

func (m *messages) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
	select {
	case <-quit:
		return tty.Line{}, tty.ErrInterrupted
	default:
	}
	if len(m.rest) == 0 {
		return tty.Line{}, io.EOF
	}
	first := m.rest[0]
	m.rest = m.rest[1:]
	return tty.Line{Text: first}, nil
}

func (m *messages) Watch(_, _ func()) func() { return func() {} }

// pipe is the input of a program: one message a line.
type pipe struct {
	json  bool // lines are objects
	limit int  // how long a line may be, in bytes
	lines chan rawLine
	err   error // why there are no more lines; set before lines is closed
}

func newPipe(r io.Reader, asJSON bool, limit int) *pipe {
	if asJSON { // in which a letter may take six times as much
		limit = int(min(6*int64(limit), math.MaxInt32-1))
	}
	p := &pipe{json: asJSON, limit: limit, lines: make(chan rawLine)}
	go p.read(lines.NewReader(r, limit))
	return p
}

func (p *pipe) read(r *lines.Reader) {
	defer close(p.lines)
	for {
		line, err := readLine(r)
		if line.bytes > 0 {
			p.lines <- line
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// rawLine is a line of a pipe without its newline. A line over the limit has only a length.
type rawLine struct {
	text  string
	bytes int // with the newline
}

// readLine reads the next line. The last line may lack its newline: it comes with an error.
func readLine(r *lines.Reader) (rawLine, error) {
	line, err := r.Next()
	switch err {
	case nil:
		return rawLine{string(line), len(line) + 1}, nil
	case lines.ErrTooLong:
		n, err := r.Skip(nil)
		return rawLine{bytes: int(n)}, err
	}
	return rawLine{string(r.Rest()), len(r.Rest())}, err
}

func (p *pipe) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
	select {
	case <-quit:
		return tty.Line{}, tty.ErrInterrupted
	case raw, ok := <-p.lines:
		text := strings.TrimRight(raw.text, "\r\n")
		switch {
		case !ok:
			return tty.Line{}, p.err
		case raw.bytes > p.limit:
			return tty.Line{}, &journal.TooLongError{Type: "a line of input", Bytes: raw.bytes, Limit: p.limit}
		case p.json:
			return parseLine(text)
		}
		return tty.Line{Text: text}, nil
	}
}

// errNoMessage: a line of JSON input is none.
var errNoMessage = errors.New(`not a message such as {"content": "hello"} or {"content": "hello", "from": "ann"}`)

// parseLine reads a message that may have several lines.
func parseLine(text string) (tty.Line, error) {
	if strings.TrimSpace(text) == "" {
		return tty.Line{}, nil
	}
	var m struct {
		Content *string `json:"content"`
		From    string  `json:"from"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&m) != nil || m.Content == nil || d.Decode(new(any)) != io.EOF {
		return tty.Line{}, fmt.Errorf("%s: %w", tty.SafeLine(text[:min(len(text), 60)]), errNoMessage)
	}
	return tty.Line{Text: *m.Content, From: m.From, Message: true}, nil
}

func (p *pipe) Watch(_, _ func()) func() { return func() {} }
