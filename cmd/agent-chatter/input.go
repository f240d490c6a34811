package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// line is one thing that somebody said or asked for.
type line struct {
	text    string
	from    string // the human who says it; "": the one who is next
	message bool   // it is never a command
}

// messages is the input of somebody who gave them on the command line.
type messages struct{ rest []string }

func (m *messages) next(_ string, quit <-chan struct{}) (line, error) {
	select {
	case <-quit:
		return line{}, errInterrupted
	default:
	}
	if len(m.rest) == 0 {
		return line{}, io.EOF
	}
	first := m.rest[0]
	m.rest = m.rest[1:]
	return line{text: first}, nil
}

func (m *messages) watch(_, _ func()) func() { return func() {} }

// pipe is the input of a program: one message a line.
type pipe struct {
	json  bool // lines are objects
	limit int  // how long a line may be, in bytes
	lines chan string
	err   error // why there are no more lines; set before lines is closed
}

func newPipe(r io.Reader, asJSON bool, limit int) *pipe {
	if asJSON { // in which a letter may take six times as much
		limit = int(min(6*int64(limit), math.MaxInt32-1))
	}
	p := &pipe{json: asJSON, limit: limit, lines: make(chan string)}
	go p.read(bufio.NewReader(r))
	return p
}

func (p *pipe) read(r *bufio.Reader) {
	defer close(p.lines)
	for {
		line, err := readLine(r, p.limit)
		if line != "" {
			p.lines <- strings.TrimRight(line, "\r\n")
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

// readLine reads a line with its end, as bufio.Reader.ReadString does. Of one
// that is over the limit it returns one byte more than that, which is enough for
// it to be refused.
func readLine(r *bufio.Reader, limit int) (string, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece[:min(len(piece), limit+1-len(line))]...)
		if err != bufio.ErrBufferFull {
			return string(line), err
		}
	}
}

func (p *pipe) next(_ string, quit <-chan struct{}) (line, error) {
	select {
	case <-quit:
		return line{}, errInterrupted
	case text, ok := <-p.lines:
		switch {
		case !ok:
			return line{}, p.err
		case p.json:
			return parseLine(text)
		}
		return line{text: text}, nil
	}
}

// errNoMessage: a line of JSON input is none.
var errNoMessage = errors.New(`not a message such as {"content": "hello"} or {"content": "hello", "from": "ann"}`)

// parseLine reads a message that may have several lines.
func parseLine(text string) (line, error) {
	if strings.TrimSpace(text) == "" {
		return line{}, nil
	}
	var m struct {
		Content *string `json:"content"`
		From    string  `json:"from"`
	}
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&m) != nil || m.Content == nil || d.Decode(new(any)) != io.EOF {
		return line{}, fmt.Errorf("%s: %w", safeLine(text[:min(len(text), 60)]), errNoMessage)
	}
	return line{text: *m.Content, from: m.From, message: true}, nil
}

func (p *pipe) watch(_, _ func()) func() { return func() {} }
