package main

import (
	"bufio"
	"io"
	"strings"
)

// messages is the input of somebody who gave them on the command line.
type messages struct{ rest []string }

func (m *messages) next(_ string, quit <-chan struct{}) (string, error) {
	select {
	case <-quit:
		return "", errInterrupted
	default:
	}
	if len(m.rest) == 0 {
		return "", io.EOF
	}
	first := m.rest[0]
	m.rest = m.rest[1:]
	return first, nil
}

func (m *messages) watch(_, _ func()) func() { return func() {} }

// pipe is the input of a program: one message a line.
type pipe struct {
	lines chan string
	err   error // why there are no more lines; set before lines is closed
}

func newPipe(r io.Reader) *pipe {
	p := &pipe{lines: make(chan string)}
	go p.read(bufio.NewReader(r))
	return p
}

func (p *pipe) read(r *bufio.Reader) {
	defer close(p.lines)
	for {
		line, err := r.ReadString('\n')
		if line != "" {
			p.lines <- strings.TrimRight(line, "\r\n")
		}
		if err != nil {
			p.err = err
			return
		}
	}
}

func (p *pipe) next(_ string, quit <-chan struct{}) (string, error) {
	select {
	case <-quit:
		return "", errInterrupted
	case line, ok := <-p.lines:
		if !ok {
			return "", p.err
		}
		return line, nil
	}
}

func (p *pipe) watch(_, _ func()) func() { return func() {} }
