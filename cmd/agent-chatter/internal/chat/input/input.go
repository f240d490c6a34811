package input

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

// A Source is where the lines of a chat come from.
type Source interface {
	// Next waits for a line. The error is io.EOF after the last line, and
	// tty.ErrInterrupted after Ctrl+C or when quit is closed.
	Next(prompt string, quit <-chan struct{}) (tty.Line, error)
	// Watch calls onEscape and onInterrupt when the user presses Escape or Ctrl+C, until
	// stop is called.
	Watch(onEscape, onInterrupt func()) (stop func())
}

// Flags is the source of the messages of -m flags.
type Flags struct{ Rest []string }

// Next returns the next message.
func (m *Flags) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
	select {
	case <-quit:
		return tty.Line{}, tty.ErrInterrupted
	default:
	}
	if len(m.Rest) == 0 {
		return tty.Line{}, io.EOF
	}
	first := m.Rest[0]
	m.Rest = m.Rest[1:]
	return tty.Line{Text: first}, nil
}

// Watch does nothing: there are no keys.
func (m *Flags) Watch(_, _ func()) func() { return func() {} }

// A Pipe has one message a line.
type Pipe struct {
	json  bool // lines are objects
	limit int  // maximum length of a line in bytes
	lines chan rawLine
	err   error // of reading, or io.EOF; set before lines is closed
}

// NewPipe returns a Pipe of lines, or of JSON objects, of at most limit bytes.
func NewPipe(r io.Reader, asJSON bool, limit int) *Pipe {
	if asJSON { // an escaped character takes up to six times as many bytes
		limit = int(min(6*int64(limit), math.MaxInt32-1))
	}
	return startPipe(&Pipe{json: asJSON, limit: limit, lines: make(chan rawLine)}, r)
}

func startPipe(p *Pipe, r io.Reader) *Pipe {
	go p.read(lines.NewReader(r, p.limit))
	return p
}

func (p *Pipe) read(r *lines.Reader) {
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

// Next waits for a line and parses it.
func (p *Pipe) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
	select {
	case <-quit:
		return tty.Line{}, tty.ErrInterrupted
	case raw, ok := <-p.lines:
		if !ok {
			return tty.Line{}, p.err
		}
		return p.parse(raw)
	}
}

func (p *Pipe) parse(raw rawLine) (tty.Line, error) {
	text := strings.TrimRight(raw.text, "\r\n")
	switch {
	case raw.bytes > p.limit:
		return tty.Line{}, &journal.TooLongError{Type: "a line of input", Bytes: raw.bytes, Limit: p.limit}
	case p.json:
		return parseLine(text)
	}
	return tty.Line{Text: text}, nil
}

// ErrNotMessage is the error of Next for a line that is no JSON object of a message.
var ErrNotMessage = errors.New(`not a message such as {"content": "hello"} or {"content": "hello", "from": "ann"}`)

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
		return tty.Line{}, fmt.Errorf("%s: %w", tty.SafeLine(text[:min(len(text), 60)]), ErrNotMessage)
	}
	return tty.Line{Text: *m.Content, From: m.From, Message: true}, nil
}

// Plain reads the lines that a terminal has edited. Ctrl+C is a signal.
type Plain struct {
	*Pipe
	out   io.Writer
	ahead []rawLine // were entered before a question
}

// maxAhead is how many lines are read before they are asked for.
const maxAhead = 256

// NewPlain returns a Plain of lines of at most limit bytes, which prints prompts to out.
func NewPlain(r io.Reader, out io.Writer, limit int) *Plain {
	return &Plain{Pipe: startPipe(&Pipe{limit: limit, lines: make(chan rawLine, maxAhead)}, r), out: out}
}

// Answer prints a question and waits for a line that is entered after it. Next returns those that were entered before.
func (p *Plain) Answer(question string, quit <-chan struct{}) (tty.Line, error) {
	for len(p.lines) > 0 {
		p.ahead = append(p.ahead, <-p.lines)
	}
	fmt.Fprint(p.out, question)
	return p.Pipe.Next("", quit)
}

// Next prints the prompt and waits for a line. One that ends in a backslash continues on the next.
func (p *Plain) Next(prompt string, quit <-chan struct{}) (tty.Line, error) {
	var text string
	for {
		fmt.Fprint(p.out, prompt)
		var line tty.Line
		var err error
		if len(p.ahead) > 0 {
			line, err = p.parse(p.ahead[0])
			p.ahead = p.ahead[1:]
		} else {
			line, err = p.Pipe.Next("", quit)
		}
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

// Watch does nothing: there are no keys.
func (p *Pipe) Watch(_, _ func()) func() { return func() {} }
