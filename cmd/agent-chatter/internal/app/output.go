package app

import (
	"bytes"
	"fmt"
	"os"

	"github.com/agent-chatter/agent-chatter/cmd/agent-chatter/internal/tty"
)

// Output is standard output. It keeps the first failed write, so that a command whose
// results are incomplete fails even if it did not check.
type Output struct {
	File     *os.File
	Terminal bool // control characters that JSON may contain are escaped

	err        error
	incomplete []byte // the start of a character
}

// Fd returns the file descriptor of File.
func (o *Output) Fd() uintptr { return o.File.Fd() }

// Err returns the first error of Write.
func (o *Output) Err() error { return o.err }

// Write implements io.Writer. Its errors are OutputErrors.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.write(p)
	if err != nil {
		err = &OutputError{fmt.Errorf("standard output: %w", err)}
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}

func (o *Output) write(p []byte) (int, error) {
	if !o.Terminal {
		return o.File.Write(p)
	}
	escaped, incomplete := tty.EscapeControls(append(o.incomplete, p...))
	o.incomplete = bytes.Clone(incomplete)
	if _, err := o.File.Write(escaped); err != nil {
		return 0, err
	}
	return len(p), nil
}
