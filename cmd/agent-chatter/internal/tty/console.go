package tty

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const textAnswerAgain = "Press Y to allow it, N to refuse it, or Escape to cancel the turn."

const (
	KeyEscape    = 0x1b
	keyInterrupt = 0x03 // Ctrl+C
	keyEnd       = 0x04 // Ctrl+D

	// escapeWait is how long the rest of an escape sequence may take to arrive.
	escapeWait = 50 * time.Millisecond
)

// Console is a terminal in raw mode that reports keys as they are pressed, so that
// Escape can cancel an agent. x/term edits its lines.
type Console struct {
	in    *os.File
	out   io.Writer
	saved *term.State
	line  *term.Terminal
	keys  chan []byte // complete keys; closed at the end of input
	stop  chan struct{}

	ahead   []byte                    // keys pressed while no line was edited
	paste   paste                     // whether the editor is within a paste
	answers atomic.Pointer[chan byte] // where keys go during a question
	quit    <-chan struct{}
}

// OpenConsole puts a terminal into raw mode, in which newlines still return the carriage.
// Close restores it.
func OpenConsole(in *os.File, out io.Writer) (*Console, error) {
	saved, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	if err := processOutput(in.Fd()); err != nil {
		return nil, errors.Join(err, term.Restore(int(in.Fd()), saved))
	}
	c := &Console{in: in, out: out, saved: saved, keys: make(chan []byte), stop: make(chan struct{})}
	c.line = term.NewTerminal(consoleIO{c}, "")
	c.line.SetBracketedPasteMode(true)
	raw := make(chan []byte)
	go c.read(raw)
	go c.join(raw)
	return c, nil
}

// size returns the columns and rows of the terminal, 80 and 24 if they are unknown.
func (c *Console) size() (width, height int) {
	width, height, err := term.GetSize(int(c.in.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

// Width returns the columns of the terminal, 80 if they are unknown.
func (c *Console) Width() int {
	width, _ := c.size()
	return width
}

// read sends the input to raw. It ends with the program: a read from a terminal cannot
// be interrupted.
func (c *Console) read(raw chan<- []byte) {
	defer close(raw)
	for {
		buf := make([]byte, 4096)
		n, err := c.in.Read(buf)
		if n > 0 {
			select {
			case raw <- buf[:n]:
			case <-c.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// join assembles keys that arrive in parts: an Escape at the end of a read may start the
// sequence of an arrow.
func (c *Console) join(raw <-chan []byte) {
	defer close(c.keys)
	for pressed := range raw {
		for pressed[len(pressed)-1] == KeyEscape {
			select {
			case more, ok := <-raw:
				if ok {
					pressed = append(pressed, more...)
					continue
				}
			case <-time.After(escapeWait):
			}
			break
		}
		select {
		case c.keys <- pressed:
		case <-c.stop:
			return
		}
	}
}

// withoutEscapes removes and counts presses of Escape, but not the start of a sequence
// such as an arrow or a paste.
func withoutEscapes(pressed []byte) (rest []byte, escapes int) {
	for i, b := range pressed {
		if isEscape(pressed[i:]) {
			escapes++
			continue
		}
		rest = append(rest, b)
	}
	return rest, escapes
}

// isEscape reports whether the first key is Escape.
func isEscape(pressed []byte) bool {
	return pressed[0] == KeyEscape && (len(pressed) == 1 || pressed[1] != '[' && pressed[1] != 'O')
}

// Close restores the terminal.
func (c *Console) Close() error {
	close(c.stop)
	c.line.SetBracketedPasteMode(false)
	return term.Restore(int(c.in.Fd()), c.saved)
}

// ErrInterrupted reports that Ctrl+C, Ctrl+D or a signal ended the input.
var ErrInterrupted = errors.New("interrupted")

// Next reads a line with a prompt. It blocks until the line is sent, and returns
// ErrInterrupted if quit is closed.
func (c *Console) Next(prompt string, quit <-chan struct{}) (Line, error) {
	text, err := c.readLine(prompt, quit)
	return Line{Text: text}, err
}

// readLine reads a message. A line that ends in a backslash or within a paste continues
// on the next one.
func (c *Console) readLine(prompt string, quit <-chan struct{}) (string, error) {
	c.quit = quit
	defer func() { c.quit = nil }()
	var text string
	for {
		c.line.SetSize(c.size()) // it may have changed
		c.line.SetPrompt(prompt)
		line, err := c.line.ReadLine()
		if err != nil && !errors.Is(err, term.ErrPasteIndicator) {
			fmt.Fprintln(c.out)
			return "", ErrInterrupted
		}
		continued := len(line) > 0 && line[len(line)-1] == '\\'
		switch {
		case c.paste.open:
			text += line + "\n"
		case continued:
			text += line[:len(line)-1] + "\n"
		default:
			return text + line, nil
		}
		prompt = "… "
	}
}

// ReadKey waits for a key. A sequence, such as an arrow, is utf8.RuneError.
func (c *Console) ReadKey(quit <-chan struct{}) (rune, error) {
	pressed := c.ahead
	c.ahead = nil
	for len(pressed) == 0 {
		var ok bool
		select {
		case pressed, ok = <-c.keys:
			if !ok {
				return 0, io.EOF
			}
		case <-quit:
			return 0, ErrInterrupted
		}
	}
	rest, escapes := withoutEscapes(pressed)
	switch {
	case escapes > 0:
		c.ahead = rest
		return KeyEscape, nil
	case rest[0] == KeyEscape:
		return utf8.RuneError, nil
	}
	key, size := utf8.DecodeRune(rest)
	c.ahead = rest[size:]
	if key == keyInterrupt {
		return 0, ErrInterrupted
	}
	return key, nil
}

// Watch calls onEscape and onInterrupt when Escape and Ctrl+C are pressed, until stop is
// called. Other keys belong to the next line.
func (c *Console) Watch(onEscape, onInterrupt func()) (stop func()) {
	done := make(chan struct{})
	var over sync.WaitGroup
	over.Add(1)
	go func() {
		defer over.Done()
		for {
			select {
			case <-done:
				return
			case pressed, ok := <-c.keys:
				if !ok {
					onInterrupt()
					return
				}
				c.react(pressed, onEscape, onInterrupt)
			}
		}
	}()
	return func() {
		close(done)
		over.Wait()
	}
}

func (c *Console) react(pressed []byte, onEscape, onInterrupt func()) {
	rest, escapes := withoutEscapes(pressed)
	if bytes.IndexByte(rest, keyInterrupt) >= 0 {
		onInterrupt()
		return
	}
	if escapes > 0 {
		onEscape()
	}
	answers := c.answers.Load()
	if escapes > 0 && answers == nil {
		rest = c.cancelAhead(pressed)
	}
	if answers != nil {
		for _, key := range rest {
			select {
			case *answers <- key:
			default: // drop keys that flood the question
			}
		}
		return
	}
	c.ahead = append(c.ahead, rest...)
}

// cancelAhead removes from the keys before the last Escape those that would send the line
// or end the program, because the user may want to edit the line first. It returns the
// keys after the Escape.
func (c *Console) cancelAhead(pressed []byte) (after []byte) {
	last := len(pressed) - 1
	for !isEscape(pressed[last:]) {
		last--
	}
	before, _ := withoutEscapes(pressed[:last])
	ahead := append(c.ahead, before...)
	ahead = bytes.TrimRight(bytes.ReplaceAll(ahead, []byte{keyEnd}, nil), "\r\n")
	c.ahead = bytes.ReplaceAll(bytes.ReplaceAll(ahead, []byte("\r"), []byte(" ")), []byte("\n"), []byte(" "))
	return pressed[last+1:]
}

// Ask prints a question and waits for y or n while Watch runs. The answer is no when ctx
// is done. Keys pressed earlier are no answers.
func (c *Console) Ask(ctx context.Context, question string) bool {
	answers := make(chan byte, 16)
	c.answers.Store(&answers)
	defer c.answers.Store(nil)
	fmt.Fprintln(c.out, question)
	for {
		select {
		case key := <-answers:
			switch key {
			case 'y', 'Y':
				return true
			case 'n', 'N':
				return false
			}
			fmt.Fprintln(c.out, textAnswerAgain)
		case <-ctx.Done():
			return false
		}
	}
}

// consoleIO is the input and output of the line editor.
type consoleIO struct{ c *Console }

// Write prints what the editor shows. The terminal turns a newline into a carriage return
// and a line feed, so that the editor's own carriage returns before newlines are dropped.
func (i consoleIO) Write(p []byte) (int, error) {
	if _, err := i.c.out.Write(bytes.ReplaceAll(p, []byte("\r\n"), []byte("\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Read returns the keys without presses of Escape, which the editor would combine with
// the following key.
func (i consoleIO) Read(p []byte) (int, error) {
	c := i.c
	for len(c.ahead) == 0 {
		select {
		case pressed, ok := <-c.keys:
			if !ok {
				return 0, io.EOF
			}
			c.ahead, _ = withoutEscapes(pressed)
		case <-c.quit:
			return 0, ErrInterrupted
		}
	}
	n := copy(p, c.ahead)
	if end := bytes.IndexAny(p[:n], "\r\n"); end >= 0 {
		n = end + 1 // so that the editor returns the line before it reads on
	}
	c.ahead = c.ahead[n:]
	c.paste.pass(p[:n])
	return n, nil
}

// paste tracks the marks that a terminal puts around pasted text.
type paste struct {
	open bool
	last string // the last bytes, as many as a mark has
}

const (
	pasteStart = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

func (p *paste) pass(pressed []byte) {
	for _, b := range pressed {
		p.last += string([]byte{b})
		p.last = p.last[max(0, len(p.last)-len(pasteStart)):]
		switch p.last {
		case pasteStart:
			p.open = true
		case pasteEnd:
			p.open = false
		}
	}
}
