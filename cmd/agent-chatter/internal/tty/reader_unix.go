//go:build unix

package tty

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// readerInterval is how long nobody may read what is printed until that is noticed.
const readerInterval = 200 * time.Millisecond

// whileRead calls stop when nobody reads what is printed to a pipe any more, as behind
// head, so that a command that waits for something to print does not wait for ever. It
// ends with ctx.
func WhileRead(ctx context.Context, fd uintptr, stop func()) {
	for ctx.Err() == nil {
		output := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(output, int(readerInterval.Milliseconds()))
		switch {
		case err != nil && err != unix.EINTR, output[0].Revents&unix.POLLNVAL != 0:
			return
		case output[0].Revents != 0:
			stop()
			return
		}
	}
}
