//go:build unix

package tty

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A waiter waits for input without reading it, so that another program can be given the terminal.
type waiter struct {
	in          int
	wake, waked *os.File // the ends of a pipe, for interrupt
}

func newWaiter(in *os.File) (*waiter, error) {
	waked, wake, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &waiter{int(in.Fd()), wake, waked}, nil
}

func (w *waiter) close() error { return errors.Join(w.wake.Close(), w.waked.Close()) }

// interrupt ends the next wait.
func (w *waiter) interrupt() { _, _ = w.wake.Write([]byte{0}) }

// wait waits for input, for interrupt, or for a time; below 0 without limit. Its select(2) knows terminals on macOS,
// where poll(2) does not.
func (w *waiter) wait(limit time.Duration) waited {
	var read unix.FdSet
	waked := int(w.waked.Fd())
	for {
		read.Zero()
		read.Set(w.in)
		read.Set(waked)
		var timeout *unix.Timeval
		if limit >= 0 {
			t := unix.NsecToTimeval(int64(limit))
			timeout = &t
		}
		n, err := unix.Select(max(w.in, waked)+1, &read, nil, nil, timeout)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return readable // the error is that of the read
		case n == 0:
			return timedOut
		case read.IsSet(waked):
			_, _ = w.waked.Read(make([]byte, 64))
			return interrupted
		default:
			return readable
		}
	}
}
