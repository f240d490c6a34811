package app

import (
	"fmt"
	"os"
)

// Output is standard output. It keeps the first failed write, so that a command whose
// results are incomplete fails even if it did not check.
type Output struct {
	File *os.File
	err  error
}

// Fd returns the file descriptor of File.
func (o *Output) Fd() uintptr { return o.File.Fd() }

// Err returns the first error of Write.
func (o *Output) Err() error { return o.err }

// Write implements io.Writer. Its errors are OutputErrors.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil {
		err = &OutputError{fmt.Errorf("standard output: %w", err)}
	}
	if o.err == nil {
		o.err = err
	}
	return n, err
}
