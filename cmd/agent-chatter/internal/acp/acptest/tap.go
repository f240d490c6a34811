package acptest

import (
	"bytes"
	"io"
	"sync"
)

// Tap returns the input and the output of an agent with the lines checked that pass, each before the other side can
// answer it. Of a wrong line report gets the error; the line passes all the same. report is called by one goroutine
// at a time.
func (r *Recording) Tap(in io.Reader, out io.Writer, report func(from Side, err error)) (io.Reader, io.Writer) {
	mu := new(sync.Mutex)
	check := func(from Side) func([]byte) {
		return func(line []byte) {
			mu.Lock()
			defer mu.Unlock()
			if err := r.Check(from, line); err != nil {
				report(from, err)
			}
		}
	}
	return &input{in, lines{check: check(Client)}}, &output{out, lines{check: check(Agent)}}
}

// lines checks the lines of a stream.
type lines struct {
	check func(line []byte)
	begun []byte // a line without its end
}

func (l *lines) pass(p []byte) {
	for line := range bytes.Lines(p) {
		if l.begun = append(l.begun, line...); line[len(line)-1] == '\n' {
			l.check(l.begun)
			l.begun = nil
		}
	}
}

type input struct {
	io.Reader
	lines lines
}

func (i *input) Read(p []byte) (int, error) {
	n, err := i.Reader.Read(p)
	i.lines.pass(p[:n])
	return n, err
}

type output struct {
	io.Writer
	lines lines
}

func (o *output) Write(p []byte) (int, error) {
	o.lines.pass(p)
	return o.Writer.Write(p)
}
