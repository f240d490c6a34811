//go:build !windows

package workspace

import (
	"os"

	"golang.org/x/sys/unix"
)

// isPipe reports whether a path, or what a link there leads to, is a named pipe.
func isPipe(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode()&os.ModeNamedPipe != 0
}

// freeReader opens a named pipe for writing if a process waits for that, and closes it.
func freeReader(pipe string) {
	if !isPipe(pipe) {
		return // it was replaced
	}
	if fd, err := unix.Open(pipe, unix.O_WRONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0); err == nil {
		unix.Close(fd)
	}
}
