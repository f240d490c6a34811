//go:build unix

package tty

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// pollInterval is how long a poll waits before it checks ctx.
const pollInterval = 200 * time.Millisecond

// WatchReader calls stop when the reader of a pipe closes it, as head does: a command
// that waits for something to print would not notice. It blocks until then or until ctx
// is done.
func WatchReader(ctx context.Context, fd uintptr, stop func()) {
	for ctx.Err() == nil {
		output := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(output, int(pollInterval.Milliseconds()))
		switch {
		case err != nil && err != unix.EINTR, output[0].Revents&unix.POLLNVAL != 0:
			return
		case output[0].Revents != 0:
			stop()
			return
		}
	}
}
