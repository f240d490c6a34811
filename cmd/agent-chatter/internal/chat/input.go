package chat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
	"github.com/agent-chatter/agent-chatter/journal"
	"github.com/agent-chatter/agent-chatter/journal/lines"
	"github.com/agent-chatter/agent-chatter/projection/runecut"
)

// A lineSource is where the lines of a chat come from.
type lineSource interface {
	// Next waits for a line. The error is io.EOF after the last line, and
	// tty.ErrInterrupted after Ctrl+C or when quit is closed.
	Next(prompt string, quit <-chan struct{}) (tty.Line, error)
	// Watch calls onCancel when the user presses Escape or Ctrl+C, with the id of the member whose turn is to be
	// cancelled or "" for all, and onInterrupt when the user presses Ctrl+C once more. It gives the lines that are
	// entered to steer. Both end when stop is called. Next returns the lines that steer does not take, as it returns
	// false.
	Watch(onCancel func(member string), onInterrupt func(), steer func(tty.Line) bool) (stop func())
}

// flagLines is the source of the messages of -m flags.
type flagLines struct{ Rest []string }

// Next returns the next message.
func (m *flagLines) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
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

// Watch does nothing: each message waits for the replies to the one before.
func (m *flagLines) Watch(_ func(string), _ func(), _ func(tty.Line) bool) func() { return func() {} }

// A pipeLines has one message a line.
type pipeLines struct {
	json  bool // lines are objects
	limit int  // maximum length of a line in bytes
	lines chan rawLine
	err   error // of reading, or io.EOF; set before lines is closed
}

// newPipeLines returns a pipeLines of lines of at most limit bytes, or of JSON objects of at most
// six times as many: that is how long a text of limit bytes can be in JSON.
func newPipeLines(r io.Reader, asJSON bool, limit int) *pipeLines {
	if asJSON {
		limit = int(min(6*int64(limit), math.MaxInt32-1))
	}
	p := &pipeLines{json: asJSON, limit: limit, lines: make(chan rawLine)}
	go func() {
		p.err = readLines(lines.NewReader(r, limit), func(line rawLine) { p.lines <- line })
		close(p.lines)
	}()
	return p
}

// readLines calls add with each line, and returns the error that ends them.
func readLines(r *lines.Reader, add func(rawLine)) error {
	for {
		line, err := readLine(r)
		if line.bytes > 0 {
			add(line)
		}
		if err != nil {
			return err
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
func (p *pipeLines) Next(_ string, quit <-chan struct{}) (tty.Line, error) {
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

func (p *pipeLines) parse(raw rawLine) (tty.Line, error) {
	line, err := raw.line(p.limit)
	if err == nil && p.json {
		return parseLine(line.Text)
	}
	return line, err
}

// line returns the line, or an error if it has more bytes than the limit.
func (l rawLine) line(limit int) (tty.Line, error) {
	if l.bytes > limit {
		return tty.Line{}, &journal.TooLongError{Type: "a line of input", Bytes: l.bytes, Limit: limit}
	}
	return tty.Line{Text: strings.TrimRight(l.text, "\r\n")}, nil
}

// errNotMessage is the error of Next for a line that is no JSON object of a message.
var errNotMessage = errors.New(`not a message such as {"content": "hello"} or {"content": "hello", "from": "ann"}`)

// Watch does nothing: each line waits for the replies to the one before.
func (p *pipeLines) Watch(_ func(string), _ func(), _ func(tty.Line) bool) func() { return func() {} }

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
		return tty.Line{}, fmt.Errorf("%s: %w", tty.SafeLine(runecut.Prefix(text, 60)), errNotMessage)
	}
	return tty.Line{Text: *m.Content, From: m.From, Message: true}, nil
}

// plainLines reads from a terminal in its normal mode, in which the terminal edits the lines
// and Ctrl+C sends a signal.
type plainLines struct {
	out   io.Writer
	limit int // maximum length of a line in bytes

	mu          sync.Mutex
	steer       func(tty.Line) bool // of Watch; nil: no turn runs
	questions   int                 // that wait for an answer
	cancel      func(string)        // of Watch; nil: no turn runs
	interrupted time.Time           // when Ctrl+C was pressed last; zero: not yet, or not in this turn
	entered     []rawLine           // were not asked for yet
	bytes       int                 // of entered
	dropped     int                 // bytes of the lines that were entered after maxEntered bytes
	err         error               // of reading, or io.EOF; no line follows
	changed     chan struct{}       // holds a value after the fields above have changed
}

// maxEntered is how many bytes of lines are kept until they are asked for; a longer line
// is kept alone.
const maxEntered = 4 << 20

// lineOverhead is the memory for a line besides its text, in bytes.
const lineOverhead = 64

// newPlainLines returns a plainLines of lines of at most limit bytes, which prints prompts to out.
func newPlainLines(r io.Reader, out io.Writer, limit int) *plainLines {
	p := &plainLines{out: out, limit: limit, changed: make(chan struct{}, 1)}
	go func() {
		err := readLines(lines.NewReader(r, limit), p.take)
		p.change(func() { p.err = err })
	}()
	return p
}

func (p *plainLines) change(do func()) {
	p.mu.Lock()
	do()
	p.mu.Unlock()
	select {
	case p.changed <- struct{}{}:
	default:
	}
}

// enter never waits until a line is asked for, so that Answer knows the lines that are
// older than its question.
func (p *plainLines) enter(line rawLine) {
	size := line.bytes + lineOverhead
	if p.dropped > 0 || len(p.entered) > 0 && p.bytes+size > maxEntered {
		p.dropped += line.bytes
		return
	}
	p.entered, p.bytes = append(p.entered, line), p.bytes+size
}

// errDropped is the error of Next after lines that were entered too early to be kept.
var errDropped = errors.New("too much was entered ahead")

// Answer prints a question and waits for a line that is entered after it. Next returns those that were entered before.
func (p *plainLines) Answer(question string, quit <-chan struct{}) (tty.Line, error) {
	p.mu.Lock()
	older := len(p.entered)
	p.questions++
	p.mu.Unlock()
	defer p.change(func() { p.questions-- })
	fmt.Fprint(p.out, question)
	return p.after(older, quit)
}

// after waits for the line after the n oldest that were not asked for yet.
func (p *plainLines) after(n int, quit <-chan struct{}) (tty.Line, error) {
	for {
		select {
		case <-quit:
			return tty.Line{}, tty.ErrInterrupted
		default:
		}
		p.mu.Lock()
		var line rawLine
		found, dropped, err := len(p.entered) > n, p.dropped, p.err
		if found {
			line = p.entered[n]
			p.bytes -= line.bytes + lineOverhead
			copy(p.entered[1:], p.entered[:n])
			p.entered[0] = rawLine{}
			p.entered = p.entered[1:]
		}
		p.mu.Unlock()
		switch {
		case found:
			return line.line(p.limit)
		case dropped > 0:
			return tty.Line{}, fmt.Errorf("%w: the last %d bytes were dropped", errDropped, dropped)
		case err != nil:
			return tty.Line{}, err
		}
		select {
		case <-quit:
		case <-p.changed:
		}
	}
}

// Next prints the prompt and waits for a line. One that ends in a backslash continues on the next.
func (p *plainLines) Next(prompt string, quit <-chan struct{}) (tty.Line, error) {
	var lines []string
	for {
		fmt.Fprint(p.out, prompt)
		line, err := p.after(0, quit)
		if err != nil {
			fmt.Fprintln(p.out)
		}
		switch {
		case err == io.EOF && len(lines) > 0:
			return tty.Line{Text: strings.Join(lines, "\n")}, nil
		case err != nil:
			p.mu.Lock()
			p.dropped = 0
			p.mu.Unlock()
			return line, err
		}
		rest, continued := strings.CutSuffix(line.Text, "\\")
		lines, prompt = append(lines, rest), "… "
		if !continued {
			return tty.Line{Text: strings.Join(lines, "\n")}, nil
		}
	}
}

// Watch gives lines to steer while no question is asked. The only key is Ctrl+C, which Interrupt handles.
func (p *plainLines) Watch(onCancel func(string), _ func(), steer func(tty.Line) bool) func() {
	p.change(func() { p.steer, p.cancel, p.interrupted = steer, onCancel, time.Time{} })
	return func() { p.change(func() { p.steer, p.cancel, p.interrupted = nil, nil, time.Time{} }) }
}

// leaveTime is how long another Ctrl+C leaves after the first.
const leaveTime = 2 * time.Second

// Interrupt handles Ctrl+C: it cancels the turn, or asks for another one. It returns false if the program is to end.
func (p *plainLines) Interrupt(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := p.interrupted
	p.interrupted = now
	switch {
	case p.cancel != nil && last.IsZero():
		p.cancel("")
	case p.cancel != nil, now.Sub(last) < leaveTime:
		return false
	default:
		fmt.Fprintln(p.out, textLeaves)
	}
	return true
}

const textLeaves = "Press Ctrl+C again to save and leave."

// take gives a line to the agent that works, or keeps it. A line that continues on the next is kept.
func (p *plainLines) take(line rawLine) {
	p.mu.Lock()
	steer := p.steer
	if p.questions > 0 || len(p.entered) > 0 {
		steer = nil
	}
	p.mu.Unlock()
	said, err := line.line(p.limit)
	if steer == nil || err != nil || strings.HasSuffix(said.Text, "\\") || !steer(said) {
		p.change(func() { p.enter(line) })
	}
}
