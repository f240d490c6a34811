//go:build unix

package process

import (
	"os"

	"golang.org/x/sys/unix"
)

// unread returns the number of bytes in the pipe.
func unread(pipe *os.File) (n int, err error) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0, err
	}
	controlErr := conn.Control(func(fd uintptr) { n, err = unix.IoctlGetInt(int(fd), fionread) })
	if controlErr != nil {
		return 0, controlErr
	}
	return n, err
}
