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
func WatchReader(ctx context.Context, fd uintptr, stop func()) { untilClosed(ctx, fd, stop) }

// WatchWriter calls left when the writer of a pipe has closed it: a command that does not
// read on would not notice. It blocks until then or until ctx is done.
func WatchWriter(ctx context.Context, fd uintptr, left func()) { untilClosed(ctx, fd, left) }

// untilClosed calls closed when the other end of a pipe is closed.
func untilClosed(ctx context.Context, fd uintptr, closed func()) {
	for ctx.Err() == nil {
		file := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(file, int(pollInterval.Milliseconds()))
		switch {
		case err != nil && err != unix.EINTR, file[0].Revents&unix.POLLNVAL != 0:
			return
		case file[0].Revents != 0:
			closed()
			return
		}
	}
}
