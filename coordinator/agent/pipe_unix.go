//go:build unix

package agent

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread is the number of bytes that wait in the pipe.
func unread(pipe *os.File) (n int, err error) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	if controlErr := conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), fionread) }); controlErr != nil {
		return 0, controlErr
	}
	return n, err
}
