package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/coordinator"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/lines"
)

// An input is a source of lines.
type input interface {
	// Next waits for a line. The error is io.EOF after the last line, and
	// tty.ErrInterrupted after Ctrl+C or when quit is closed.
	Next(prompt string, quit <-chan struct{}) (tty.Line, error)
	// Watch calls onEscape and onInterrupt when the user presses Escape or Ctrl+C, until
	// stop is called.
	Watch(onEscape, onInterrupt func()) (stop func())
}

// messages is the input of -m flags.
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

// pipe is an input with one message a line.
type pipe struct {
	json  bool // lines are objects
	limit int  // maximum length of a line in bytes
	lines chan rawLine
	err   error // of reading, or io.EOF; set before lines is closed
}

func newPipe(r io.Reader, asJSON bool, limit int) *pipe {
	if asJSON { // an escaped character takes up to six times as many bytes
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

// rawLine is a line without its newline. A line over the limit has no text.
type rawLine struct {
	text  string
	bytes int // including the newline
}

// readLine reads the next line. A last line without a newline is returned with an error.
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

// errNotMessage is the error for an invalid line of --input json.
var errNotMessage = errors.New(`not a message such as {"content": "hello"} or {"content": "hello", "from": "ann"}`)

// parseLine parses a line of --input json. A blank line is the zero Line.
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
		return tty.Line{}, fmt.Errorf("%s: %w", tty.SafeLine(text[:min(len(text), 60)]), errNotMessage)
	}
	return tty.Line{Text: *m.Content, From: m.From, Message: true}, nil
}

// plainInput reads the lines that a terminal has edited, after a prompt. Ctrl+C is a signal.
type plainInput struct {
	*pipe
	out io.Writer
}

func (p *plainInput) Next(prompt string, quit <-chan struct{}) (tty.Line, error) {
	var text string
	for {
		fmt.Fprint(p.out, prompt)
		line, err := p.pipe.Next("", quit)
		if err != nil {
			fmt.Fprintln(p.out)
			return line, err
		}
		rest, continued := strings.CutSuffix(line.Text, "\\")
		if !continued {
			return tty.Line{Text: text + line.Text}, nil
		}
		text, prompt = text+rest+"\n", "… "
	}
}

// ask prints a question and waits for a line that starts with y or n.
func (p *plainInput) ask(ctx context.Context, q coordinator.Question) coordinator.Answer {
	question := strings.TrimSuffix(permissionText(q.Member.DisplayName, q.Permission), textCancelTurn)
	for {
		line, err := p.Next(question+"\n", ctx.Done())
		if err != nil {
			return coordinator.Refused
		}
		switch strings.ToLower(strings.TrimSpace(line.Text)) {
		case "y", "yes":
			return coordinator.Allowed
		case "n", "no":
			return coordinator.Refused
		}
		question = "Type y to allow it, or n to refuse it."
	}
}

func (p *pipe) Watch(_, _ func()) func() { return func() {} }
