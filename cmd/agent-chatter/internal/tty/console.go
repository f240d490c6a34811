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

	// escapeWait is how long the rest of a key that begins like Escape may take
	// to arrive.
	escapeWait = 50 * time.Millisecond
)

// console is a terminal that gives out its keys as they are pressed, so that
// Escape can cancel an agent. Lines are edited by x/term.
type Console struct {
	in    *os.File
	out   io.Writer
	saved *term.State
	line  *term.Terminal
	keys  chan []byte // whole keys, as they were pressed; closed at the end of input
	stop  chan struct{}

	ahead   []byte                    // pressed while no line was being typed
	paste   paste                     // whether the line editor has begun to read one
	answers atomic.Pointer[chan byte] // where keys go while a question is open
	quit    <-chan struct{}
}

// openConsole puts the terminal into raw mode. Close puts it back.
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

// size is how many characters fit on a line, and how many lines on the screen.
func (c *Console) size() (width, height int) {
	width, height, err := term.GetSize(int(c.in.Fd()))
	if err != nil || width <= 0 || height <= 0 {
		return 80, 24
	}
	return width, height
}

func (c *Console) Width() int {
	width, _ := c.size()
	return width
}

// read passes on what is pressed. It ends with the program: a read from a
// terminal cannot be called off.
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

// join puts keys together that arrive in parts: an Escape at the end of a read
// may be the beginning of an arrow.
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

// withoutEscapes splits off the presses of Escape. What begins a sequence, such
// as an arrow or a paste, is none.
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

// isEscape reports whether Escape is what was pressed first.
func isEscape(pressed []byte) bool {
	return pressed[0] == KeyEscape && (len(pressed) == 1 || pressed[1] != '[' && pressed[1] != 'O')
}

// unsent is what was typed ahead, without what would send it or end the program:
// whoever presses Escape then wants neither. It stands on the next line, to be
// sent, changed or deleted.
func unsent(ahead []byte) []byte {
	ahead = bytes.TrimRight(bytes.ReplaceAll(ahead, []byte{keyEnd}, nil), "\r\n")
	return bytes.ReplaceAll(bytes.ReplaceAll(ahead, []byte("\r"), []byte(" ")), []byte("\n"), []byte(" "))
}

// Close makes the terminal what it was.
func (c *Console) Close() error {
	close(c.stop)
	c.line.SetBracketedPasteMode(false)
	return term.Restore(int(c.in.Fd()), c.saved)
}

// errInterrupted: Ctrl+C, Ctrl+D or a signal ended the typing.
var ErrInterrupted = errors.New("interrupted")

// next implements input.
func (c *Console) Next(prompt string, quit <-chan struct{}) (Line, error) {
	text, err := c.readLine(prompt, quit)
	return Line{Text: text}, err
}

// readLine lets a person type a message. A line that ends in a backslash, or in
// a paste, goes on with the next. quit ends the typing.
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
		case c.paste.goesOn:
			text += line + "\n"
		case continued:
			text += line[:len(line)-1] + "\n"
		default:
			return text + line, nil
		}
		prompt = "… "
	}
}

// readKey waits for one key; a sequence, such as an arrow, is utf8.RuneError.
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

// watch calls onEscape and onInterrupt when these keys are pressed, until the
// returned function is called. What else is pressed belongs to the next line.
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
			default: // nobody answers that often
			}
		}
		return
	}
	c.ahead = append(c.ahead, rest...)
}

// cancelAhead keeps what was pressed before the last Escape from being sent, and
// returns what was pressed behind it.
func (c *Console) cancelAhead(pressed []byte) (behind []byte) {
	last := len(pressed) - 1
	for !isEscape(pressed[last:]) {
		last--
	}
	before, _ := withoutEscapes(pressed[:last])
	c.ahead = unsent(append(c.ahead, before...))
	return pressed[last+1:]
}

// ask puts a question that is answered with y or n, while watch watches, until ctx is done:
// then the answer is no. What was pressed before is no answer.
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

// consoleIO is what the line editor reads from and writes to.
type consoleIO struct{ c *Console }

func (i consoleIO) Write(p []byte) (int, error) { return i.c.out.Write(p) }

// Read gives the line editor what is pressed, but no Escape: it would take what
// follows for a part of it.
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
		n = end + 1 // so that the line is given out before what comes behind it
	}
	c.ahead = c.ahead[n:]
	c.paste.pass(p[:n])
	return n, nil
}

// paste tells whether what a terminal gives out is pasted, which it marks.
type paste struct {
	goesOn bool
	last   string // as many bytes as a mark has
}

const (
	pasteBegins = "\x1b[200~"
	pasteEnds   = "\x1b[201~"
)

func (p *paste) pass(pressed []byte) {
	for _, b := range pressed {
		p.last += string([]byte{b})
		p.last = p.last[max(0, len(p.last)-len(pasteBegins)):]
		switch p.last {
		case pasteBegins:
			p.goesOn = true
		case pasteEnds:
			p.goesOn = false
		}
	}
}
