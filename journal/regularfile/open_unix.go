//go:build !windows

package regularfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// NoFollow is a flag of OpenFile: a name that is a symbolic link is refused.
const NoFollow = syscall.O_NOFOLLOW

// open opens a file without waiting for the other end of a named pipe.
func open(name string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|syscall.O_NONBLOCK|syscall.O_NOCTTY, perm)
	if errors.Is(err, syscall.EAGAIN) {
		// A file server holds a lease of the file. A blocking open waits until the
		// server has returned the lease.
		if info, statErr := os.Lstat(name); statErr == nil && info.Mode().IsRegular() {
			return os.OpenFile(name, flag, perm)
		}
	}
	return f, err
}
