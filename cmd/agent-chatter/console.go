package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"sync"
	"unicode/utf8"

	"golang.org/x/term"
)

// Keys that mean something while no line is being typed.
const (
	keyEscape    = 0x1b
	keyInterrupt = 0x03 // Ctrl+C
)

// console is a terminal that gives out its keys as they are pressed, so that
// Escape can cancel an agent. Lines are edited by x/term.
type console struct {
	in    *os.File
	out   io.Writer
	saved *term.State
	line  *term.Terminal
	keys  chan []byte // what was pressed, as it was read; closed at the end of input
	stop  chan struct{}

	ahead []byte // pressed while no line was being typed
	quit  <-chan struct{}
}

// openConsole puts the terminal into raw mode. Close puts it back.
func openConsole(in *os.File, out io.Writer) (*console, error) {
	saved, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return nil, err
	}
	c := &console{in: in, out: out, saved: saved, keys: make(chan []byte), stop: make(chan struct{})}
	c.line = term.NewTerminal(consoleIO{c}, "")
	c.line.SetBracketedPasteMode(true)
	if w, h, err := term.GetSize(int(in.Fd())); err == nil && w > 0 {
		c.line.SetSize(w, h)
	}
	go c.read()
	return c, nil
}

// read passes on what is pressed. It ends with the program: a read from a
// terminal cannot be called off.
func (c *console) read() {
	defer close(c.keys)
	for {
		buf := make([]byte, 4096)
		n, err := c.in.Read(buf)
		if n > 0 {
			select {
			case c.keys <- buf[:n]:
			case <-c.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// Close makes the terminal what it was.
func (c *console) Close() error {
	close(c.stop)
	c.line.SetBracketedPasteMode(false)
	return term.Restore(int(c.in.Fd()), c.saved)
}

// Write is for text with plain line breaks.
func (c *console) Write(p []byte) (int, error) {
	if _, err := c.out.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// errInterrupted: Ctrl+C, Ctrl+D or a signal ended the typing.
var errInterrupted = errors.New("interrupted")

// next implements input.
func (c *console) next(prompt string, quit <-chan struct{}) (line, error) {
	text, err := c.readLine(prompt, quit)
	return line{text: text}, err
}

// readLine lets a person type a message. A line that ends in a backslash, or
// was pasted, goes on with the next. quit ends the typing.
func (c *console) readLine(prompt string, quit <-chan struct{}) (string, error) {
	c.quit = quit
	defer func() { c.quit = nil }()
	var text string
	for {
		c.line.SetPrompt(prompt)
		line, err := c.line.ReadLine()
		pasted := errors.Is(err, term.ErrPasteIndicator)
		if err != nil && !pasted {
			return "", errInterrupted
		}
		continued := len(line) > 0 && line[len(line)-1] == '\\'
		switch {
		case pasted:
			text += line + "\n"
		case continued:
			text += line[:len(line)-1] + "\n"
		default:
			return text + line, nil
		}
		prompt = "… "
	}
}

// readKey waits for one key. A sequence, such as an arrow, is keyEscape only
// when it is nothing else.
func (c *console) readKey(quit <-chan struct{}) (rune, error) {
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
			return 0, errInterrupted
		}
	}
	if pressed[0] == keyEscape {
		if len(pressed) > 1 {
			return utf8.RuneError, nil
		}
		return keyEscape, nil
	}
	key, size := utf8.DecodeRune(pressed)
	c.ahead = pressed[size:]
	if key == keyInterrupt {
		return 0, errInterrupted
	}
	return key, nil
}

// watch calls onEscape and onInterrupt when these keys are pressed, until the
// returned function is called. What else is pressed belongs to the next line.
func (c *console) watch(onEscape, onInterrupt func()) (stop func()) {
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

func (c *console) react(pressed []byte, onEscape, onInterrupt func()) {
	switch {
	case bytes.IndexByte(pressed, keyInterrupt) >= 0:
		onInterrupt()
	case len(pressed) == 1 && pressed[0] == keyEscape:
		onEscape()
	default:
		c.ahead = append(c.ahead, pressed...)
	}
}

// consoleIO is what the line editor reads from and writes to.
type consoleIO struct{ c *console }

func (io consoleIO) Write(p []byte) (int, error) { return io.c.out.Write(p) }

func (i consoleIO) Read(p []byte) (int, error) {
	c := i.c
	if len(c.ahead) == 0 {
		select {
		case pressed, ok := <-c.keys:
			if !ok {
				return 0, io.EOF
			}
			c.ahead = pressed
		case <-c.quit:
			return 0, errInterrupted
		}
	}
	n := copy(p, c.ahead)
	c.ahead = c.ahead[n:]
	return n, nil
}
