package vfs

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncFile uses fdatasync, which syncs the content and the size, but not the time
// stamps.
func syncFile(f *os.File) error {
	for {
		err := unix.Fdatasync(int(f.Fd()))
		if !errors.Is(err, unix.EINTR) {
			return pathError("sync", f.Name(), err)
		}
	}
}
